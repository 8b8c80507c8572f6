// Plans that tests make by hand.
import { fingerprint, guaranteeOf, readPlan } from '../candor.js';

const epsilon = (loss) => (loss === null || loss === Infinity ? null : loss.toFixed(12));

/** The file of a plan with these attributes and blocks: a matching fingerprint, and the guarantee that is given. */
export async function planFile(attributes, blocks, version, guarantee) {
  const plan = { format: 'candor plan', version, schema: { attributes }, blocks, guarantee };
  return { ...plan, fingerprint: await fingerprint(plan) };
}

/** A guarantee of these attributes that promises nothing. */
export function nothing(attributes) {
  const unbounded = ({ name }) => ({ name, marginal_epsilon: null, conditional_epsilon: null });
  return { epsilon: null, attributes: attributes.filter((attribute) => !attribute.public).map(unbounded) };
}

/** The file of a plan that states what the client computes. */
export async function honestFile(attributes, blocks, version = 1) {
  const file = await planFile(attributes, blocks, version, nothing(attributes));
  const actual = guaranteeOf(await readPlan(file, { allowUnbounded: true }));
  const stated = actual.attributes.map(({ name, marginal, conditional }) => (
    { name, marginal_epsilon: epsilon(marginal), conditional_epsilon: epsilon(conditional.high) }));
  return { ...file, guarantee: { epsilon: epsilon(actual.epsilon.high), attributes: stated } };
}

/** The same, read. */
export const made = async (...parts) => readPlan(await honestFile(...parts), { allowUnbounded: true });
