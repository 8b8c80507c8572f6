// Answers a second: node bench.js PLAN.json ... Each plan is answered for two seconds.
import { readFileSync } from 'node:fs';
import { answer, readPlan } from './candor.js';

for (const file of process.argv.slice(2)) {
  const plan = await readPlan(readFileSync(file, 'utf8'), { allowUnbounded: true });
  const record = Object.fromEntries(plan.attributes.map(({ name, categories, edges }) => [name, edges.length ? edges[0] : categories[0]]));
  let [answers, started] = [0, performance.now()];
  while (performance.now() - started < 2000) {
    answer(plan, record);
    answers += 1;
  }
  console.log(`${file}: ${plan.attributes.length} attributes, ${Math.round((1000 * answers) / (performance.now() - started))} answers a second`);
}
