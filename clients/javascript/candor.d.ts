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
}

/** A plan that was read and checked. */
export interface Plan {
  readonly fingerprint: string;
  /** As the plan states it. The fingerprint does not cover it: check it with `candor audit`. */
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

export function readPlan(source: string | object): Promise<Plan>;
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
