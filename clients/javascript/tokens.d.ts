/** A token on its way: keep it until the reply is there, and send `blinded` only. */
export interface DrawnToken {
  readonly token: string;
  readonly blind: string;
  readonly blinded: string;
}

/** What the server makes of a blinded token. */
export interface Evaluation {
  readonly evaluated: string;
  readonly proof: string;
}

/** A token and its value: what is sent with a response, as `id` and `token`. */
export interface Token {
  readonly token: string;
  readonly value: string;
}

export function drawToken(): DrawnToken;
export function finishToken(drawn: DrawnToken, reply: Evaluation, key: string): Token;

/** Which channel each block of a plan answers by, as the value of a token says; `drawTag` is that of candor.js. */
export function tokenTags(plan: import('./candor.js').Plan, value: string, drawTag: typeof import('./candor.js').drawTag): Promise<number[]>;
