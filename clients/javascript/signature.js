// Signed plans: checks a detached Ed25519 signature (docs/reference/formats.md) against a pinned public key. Only `readPlan` with
// `signature` and `publicKey` loads this, and noble.js only where WebCrypto has no Ed25519.
import { wrong } from './candor.js';

const isHex = (text, bytes) => typeof text === 'string' && new RegExp(`^[0-9a-f]{${2 * bytes}}$`).test(text);
const bytesOf = (text) => Uint8Array.from(text.match(/../g), (byte) => parseInt(byte, 16));

/** The points of small order, also in forms that are not reduced: under such a key anything can be signed. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
];

/** Whether a key is a point of small order, whatever the sign of its other coordinate. */
const isWeak = (key) => SMALL_ORDER.some((point) => {
  const last = (text) => parseInt(text.slice(-2), 16) & 0x7f;
  return key.slice(0, -2) === point.slice(0, -2) && last(key) === last(point);
});

function readSignature(source) {
  const fields = ['format', 'version', 'fingerprint', 'public_key', 'signature'];
  let file = source;
  try {
    if (typeof source === 'string') file = JSON.parse(source);
  } catch {
    wrong('not a signature of candor: the text is not JSON');
  }
  const isObject = file !== null && typeof file === 'object' && !Array.isArray(file);
  const isComplete = isObject && fields.every((name) => Object.hasOwn(file, name));
  if (!isComplete || Object.keys(file).length !== fields.length) {
    wrong(`not a signature of candor: expected the fields ${fields.join(', ')}`);
  }
  if (file.format !== 'candor signature' || file.version !== 1) {
    wrong('not a signature of candor: expected the format "candor signature", version 1');
  }
  if (!isHex(file.signature, 64)) wrong('`signature` must be 128 hexadecimal digits; it is truncated or changed');
  if (!isHex(file.public_key, 32)) wrong('not a public key: expected 64 hexadecimal digits of an Ed25519 key');
  return file;
}

/** Whether a signature is valid: by WebCrypto where it has Ed25519, else by noble. */
async function isValid(key, signature, message, subtle) {
  let imported;
  try {
    imported = await subtle.importKey('raw', key, { name: 'Ed25519' }, false, ['verify']);
  } catch {
    const { ed25519 } = await import('./noble.js');
    try {
      return ed25519.verify(signature, message, key, { zip215: false });
    } catch {
      return false;
    }
  }
  return subtle.verify({ name: 'Ed25519' }, imported, signature, message);
}

/**
 * Throws a `CandorError` unless the signature (text, or parsed JSON) is one of this plan under this public key.
 * `plan` is what `readPlan` returned, or anything with its `fingerprint` and `version`.
 */
export async function checkSignature(signature, plan, publicKey, { subtle = crypto.subtle } = {}) {
  if (!isHex(publicKey, 32) || isWeak(publicKey)) wrong('not a public key: expected 64 hexadecimal digits of an Ed25519 key');
  const file = readSignature(signature);
  if (file.public_key !== publicKey) {
    wrong(`wrong key: the signature was made with ${file.public_key}, expected ${publicKey}`);
  }
  if (file.fingerprint !== plan.fingerprint) {
    wrong(`wrong plan: the signature is of the plan ${file.fingerprint}, but this plan is ${plan.fingerprint}`);
  }
  const message = new TextEncoder().encode(`candor plan signature 1\n${plan.version}\n${plan.fingerprint}\n`);
  if (!await isValid(bytesOf(publicKey), bytesOf(file.signature), message, subtle)) {
    wrong('invalid signature: the plan or its signature was changed; do not trust this plan');
  }
}
