import { PROBLEMS, type AnyCode } from '../../errors/problem-table.js';

interface Command {
  /** Matches a step that needs the command. */
  readonly step: RegExp;
  readonly systemd: string;
  readonly docker: string;
  readonly kubernetes: string;
}

const KUBECTL = 'kubectl -n accounts-gateway';

/** The commands that the steps of errors name, for each way to run the gateway: also in docs/troubleshooting.md. */
export const COMMANDS = {
  Status: {
    step: /starts again/,
    systemd: 'systemctl status accounts-gateway',
    docker: 'docker ps --filter name=gateway',
    kubernetes: `${KUBECTL} get pods -l app.kubernetes.io/name=accounts-gateway`,
  },
  'Log lines': {
    step: /log lines?\b|the log:/,
    systemd: 'journalctl -u accounts-gateway -o cat --since -1h',
    docker: 'docker logs --since 1h gateway',
    kubernetes: `${KUBECTL} logs -l app.kubernetes.io/name=accounts-gateway --since 1h --tail=-1`,
  },
  'The doctor': {
    step: /#the-doctor/,
    systemd:
      'systemd-run -qPG --uid=accounts-gateway -p EnvironmentFile=/etc/accounts-gateway/env env NODE_ENV=production /usr/bin/node /opt/accounts-gateway/dist/main.js doctor',
    docker: 'docker exec gateway node dist/main.js doctor',
    kubernetes: `${KUBECTL} exec deploy/accounts-gateway -- node dist/main.js doctor`,
  },
  Reload: {
    step: /\[reload\]/,
    systemd: 'systemctl reload accounts-gateway',
    docker: 'docker kill --signal HUP gateway',
    kubernetes: `for pod in $(${KUBECTL} get pods -l app.kubernetes.io/name=accounts-gateway -o name); do ${KUBECTL} exec $pod -- node -e "process.kill(1, 'SIGHUP')"; done`,
  },
  Restart: {
    step: /\[restart\]/,
    systemd: 'systemctl restart accounts-gateway',
    docker: 'docker restart gateway',
    kubernetes: `${KUBECTL} rollout restart deployment/accounts-gateway`,
  },
  '/health': {
    step: /`\/health`/,
    systemd: 'curl http://127.0.0.1:3000/health',
    docker: 'curl http://localhost:3000/health',
    kubernetes: `${KUBECTL} exec deploy/accounts-gateway -- node -e "fetch('http://' + os.networkInterfaces().eth0[0].address + ':3000/health').then(async (answer) => console.log(await answer.text()))"`,
  },
} as const satisfies Record<string, Command>;

/** The names of the commands that the steps of a code need. */
export function commandsOf(code: AnyCode): (keyof typeof COMMANDS)[] {
  const steps = PROBLEMS[code].steps.join('\n');
  return (Object.keys(COMMANDS) as (keyof typeof COMMANDS)[]).filter((name) => COMMANDS[name].step.test(steps));
}
