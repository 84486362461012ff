import type { Health } from '../shared/health.js';
import { toCalendar, toNextTask } from './next-task.js';

/** The next task, with a calendar file and a link to the instructions. */
export function NextTask({ health, now }: { readonly health: Health; readonly now: number }) {
  const task = toNextTask(health, now);
  return (
    <>
      <p class="main">{task.text}</p>
      {task.waiting && <p>{task.waiting}</p>}
      <p>
        <a href={toCalendar(task, health, now)} download="renew-the-certificate.ics">
          Add to calendar (.ics)
        </a>{' '}
        · <a href={task.how}>How</a>
      </p>
    </>
  );
}
