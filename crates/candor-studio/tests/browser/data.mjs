// Two files nobody holds: made from a seed, like answers of people.

/** Numbers from 0 to 1 from a seed (mulberry32). */
export function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const pick = (random, shares) => {
  let left = random() * Object.values(shares).reduce((sum, share) => sum + share);
  return Object.keys(shares).find((name) => (left -= shares[name]) < 0) ?? Object.keys(shares).at(-1);
};

/** People at work: a city, an age, whether they fell ill from work, whether they told. */
export function workers(rows, seed = 39) {
  const random = numbers(seed);
  const lines = [',city,age,shift,ill,told,site'];
  for (let i = 0; i < rows; i += 1) {
    const shift = pick(random, { day: 6, evening: 3, night: 2 });
    const ill = pick(random, shift === 'night' ? { never: 4, once: 3, often: 3 } : { never: 7, once: 2, often: 1 });
    const told = random() < 0.04 ? 'NA' : pick(random, { yes: ill === 'never' ? 2 : 1, no: 3 });
    lines.push([i + 1, pick(random, { Arden: 3, Bray: 2, Corin: 1 }), (18 + 47 * random()).toFixed(1), shift, ill, told, 'A'].join(','));
  }
  return `${lines.join('\n')}\n`;
}

/** As many questions as a long questionnaire has. */
export function questionnaire(rows, questions, seed = 60) {
  const random = numbers(seed);
  const names = Array.from({ length: questions }, (_, at) => `q${String(at + 1).padStart(2, '0')}`);
  const row = () => ['north', 'south'][Math.floor(2 * random())] + names.map((_, at) => `,${['no', 'yes', 'unsure'][Math.floor((2 + (at % 2)) * random())]}`).join('');
  return `region,${names.join(',')}\n${Array.from({ length: rows }, row).join('\n')}\n`;
}
