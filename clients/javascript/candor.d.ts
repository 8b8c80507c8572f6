/** What is wrong with a plan or a record. Names no true value. */
export class CandorError extends Error {}

/** An attribute of a plan's schema. */
export interface Attribute {
  readonly name: string;
  readonly kind: 'nominal' | 'ordinal';
  readonly public?: boolean;
  /** Where bins end; empty if the attribute is not binned. */
  readonly edges: readonly number[];
  readonly grid: readonly number[];
  /** Whom it is asked, if not everybody; the last category is then that of those who are not asked. */
  readonly asked_if?: { readonly attribute: string; readonly categories: readonly string[] };
  readonly categories: readonly string[];
}

/** A block of a plan, ready to draw from. */
export interface Block {
  /** Positions of its attributes in the schema. */
  readonly members: readonly number[];
  readonly lottery: readonly unknown[];
  /** What one more answer of the block adds to the conditional losses, by the names of attributes. */
  readonly spends: ReadonlyMap<string, number>;
}

/** A plan that was read and checked. */
export interface Plan {
  readonly fingerprint: string;
  /** The version of the plan format. */
  readonly version: 1 | 2;
  /** For each number the larger of the stated and the computed one: decimals, null if unbounded (or not defined). */
  readonly guarantee: {
    readonly epsilon: string | null;
    readonly attributes: readonly { name: string; marginal_epsilon: string | null; conditional_epsilon: string | null }[];
  };
  readonly attributes: readonly Attribute[];
  readonly blocks: readonly Block[];
  readonly columns: readonly { readonly name: string }[];
}

/** Fills an array with fresh random bytes. */
export type Source = (bytes: Uint8Array) => unknown;

/** True answers by the names of attributes. Numbers are binned where an attribute has edges, and rounded at random to a neighbouring point where it has a grid; null is a missing value, and what a question that is not asked has. */
export type TrueRecord = { readonly [attribute: string]: string | number | boolean | null };

/** What may be sent: the plan's fingerprint and the columns of the response, in order. */
export type Response = { candor_fingerprint: string; [column: string]: string | number | string[] | null };

/** The answers of one block: the number of its channel (null without a lottery), and codes, lists of codes, or one list of cells. */
export interface BlockAnswers {
  tag: number | null;
  answers: (number | number[])[];
}

/** Where `answerOnce` keeps what it gave, such as `localStorage`. */
export interface Store {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

/** What `readPlan` requires of a plan. */
export interface ReadOptions {
  /** Largest record-level epsilon: a finite number, 0 or more. */
  readonly maxEpsilon?: number;
  /** Accept a plan without a finite record-level epsilon [default: false]; never with `maxEpsilon`. */
  readonly allowUnbounded?: boolean;
  /** Largest number of steps that the check may take, of some nanoseconds each [default: 2^30]. */
  readonly maxCost?: number;
  /** A signature file of the plan, as text or parsed; with `publicKey`. */
  readonly signature?: string | import('./signature.js').PlanSignature;
  /** The pinned public key, 64 lower-case hexadecimal digits; with `signature`. */
  readonly publicKey?: string;
}

/** Bounds on a loss; Infinity if it is unbounded. Equal unless computing the loss would take too long. */
export interface Bounds {
  readonly low: number;
  readonly high: number;
}

/** What the channels of a plan give, computed from their integers. */
export interface Losses {
  /** Of the record. */
  readonly epsilon: Bounds;
  /** Of each randomized attribute, in the order of the schema; `marginal` is null where it has no answer of its own. */
  readonly attributes: readonly { readonly name: string; readonly marginal: number | null; readonly conditional: Bounds }[];
  /** For each block what one more answer of it adds to the conditional losses, by name. */
  readonly spends: readonly ReadonlyMap<string, number>[];
}

/** Reads a plan and rejects one that was edited, cannot be drawn from, or states a smaller epsilon than it has. */
export function readPlan(source: string | object, options?: ReadOptions): Promise<Plan>;
export function guaranteeOf(plan: Plan): Losses;
export function fingerprint(plan: object): Promise<string>;
export function codes(plan: Plan, record: TrueRecord, source?: Source): number[];
/** Whether each question is asked of somebody who answered this so far. */
export function asked(plan: Plan, record: TrueRecord): boolean[];
export function answer(plan: Plan, record: TrueRecord, source?: Source): Response;
export function answerOnce(plan: Plan, record: TrueRecord, options?: { storage?: Store; scope?: string }): { id: string; response: Response };
export function drawBlocks(plan: Plan, record: readonly number[], source?: Source): BlockAnswers[];
export function drawTag(block: Block, source: Source): number;
export function drawAnswers(block: Block, tag: number, truth: readonly number[], source: Source): BlockAnswers;
export function written(plan: Plan, record: readonly number[], blocks: readonly BlockAnswers[]): Response;
export function wrong(message: string): never;
export function hex(bytes: Iterable<number>): string;
