import type { Plan } from './candor.js';

/** A signature file, parsed. */
export interface PlanSignature {
  readonly format: 'candor signature';
  readonly version: 1;
  readonly fingerprint: string;
  /** 64 lower-case hexadecimal digits. */
  readonly public_key: string;
  /** 128 lower-case hexadecimal digits. */
  readonly signature: string;
}

/**
 * Rejects with a `CandorError` unless the signature is one of this plan under this public key, 64 lower-case hexadecimal
 * digits. `subtle` is WebCrypto [default: `crypto.subtle`]; where it has no Ed25519, noble.js is loaded.
 */
export function checkSignature(
  signature: string | PlanSignature,
  plan: Pick<Plan, 'fingerprint' | 'version'>,
  publicKey: string,
  options?: { readonly subtle?: SubtleCrypto },
): Promise<void>;
