import type { Plan, Response, TrueRecord } from './candor.js';

/** What was answered from a memo: keep it, and give it back. Holds no truth. */
export type Ledger = { [fingerprint: string]: { blocks: { used: string[]; epsilon: { [attribute: string]: number | null } }[] } };

export function memoKey(): Promise<CryptoKey>;
export function memoBytes(key: CryptoKey, plan: Plan, block: number, truth: readonly number[], j: number): Promise<Uint8Array>;
export function answerFromMemo(plan: Plan, record: TrueRecord, options: { key: CryptoKey; ledger?: Ledger; cap?: number }): Promise<Response>;
export function spent(ledger: Ledger): { [attribute: string]: number };
