import { dirname, join } from 'node:path/posix';
import { parseEnv } from 'node:util';
import { parse, parseAllDocuments } from 'yaml';
import { readSettings } from '../../src/config/read-settings.js';
import { SettingsInvalid } from '../../src/config/settings-error.js';
import { KNOWN_NAMES } from '../../src/config/settings-schema.js';

/** The text of each file, by its path below config/kubernetes. */
export type Files = Readonly<Record<string, string>>;

// oxlint-disable-next-line typescript/no-explicit-any -- walked as it comes; what is missing fails the test
type Yaml = any;
type Labels = Record<string, string>;
interface Manifest {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly labels?: Labels };
  readonly spec?: Yaml;
}
interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly subPath?: string;
}

/**
 * Everything that can be found wrong with the manifests without a cluster: YAML, references between the files, names of
 * settings and their values, the user of the image, paths that must be readable or writable. Empty when all is well.
 */
export function kubernetesFaults(
  files: Files,
  image: { readonly user: string; readonly routes: readonly string[] },
): string[] {
  const broken = Object.entries(files)
    .filter(([path]) => path.endsWith('.yaml'))
    .flatMap(([path, text]) =>
      parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => `${path}: ${message}`)),
    );
  const found = broken.length > 0 ? broken : fileFaults(files);
  if (found.length > 0) return found;
  const base = new Base(files);
  return [
    ...base.selectorFaults(),
    ...base.portFaults(image.routes),
    ...base.volumeFaults(),
    ...base.settingFaults(),
    ...base.securityFaults(image.user),
    ...fleetFaults(files, base),
  ];
}

const read = (text: string | undefined): Yaml => parse(text ?? '') ?? {};

/** Files that a kustomization names and that are not there; files that none names. */
function fileFaults(files: Files): string[] {
  const named = Object.keys(files)
    .filter((path) => path.endsWith('kustomization.yaml'))
    .flatMap((path) => {
      const { resources = [], patches = [], configMapGenerator = [] } = read(files[path]);
      const paths = [
        ...resources,
        ...patches.map((patch: Yaml) => patch.path),
        ...configMapGenerator.flatMap((map: Yaml) => map.envs),
      ];
      return paths.filter(Boolean).map((name: string) => join(dirname(path), name));
    });
  return [
    ...named.filter((path) => !(path in files)).map((path) => `${path} is named and is not there`),
    ...Object.keys(files)
      .filter((path) => !path.endsWith('kustomization.yaml') && !named.includes(path))
      .map((path) => `${path} is named by no kustomization`),
    ...Object.entries(files).flatMap(([path, text]) =>
      /^kind: Secret$/m.test(text) ? [`${path} holds a Secret`] : [],
    ),
  ];
}

class Base {
  readonly #manifests: Manifest[];
  readonly #kustomization: Yaml;
  readonly #pod: Yaml;
  readonly container: Yaml;
  /** What the process gets as environment. */
  readonly environment: Readonly<Record<string, string>>;

  constructor(files: Files) {
    this.#kustomization = read(files['kustomization.yaml']);
    this.#manifests = (this.#kustomization.resources as string[]).map((path) => read(files[path]));
    this.#pod = this.#of('Deployment').spec.template;
    this.container = this.#pod.spec.containers[0];
    this.environment = {
      ...(parseEnv(files['settings.env'] ?? '') as Record<string, string>),
      ...toEnvironment(this.container.env),
    };
  }

  /** Selectors that do not find the pods of the Deployment; objects without kind or name. */
  selectorFaults(): string[] {
    const { labels } = this.#pod.metadata;
    const { spec } = this.#of('Deployment');
    const selectors: [string, Labels | undefined][] = [
      ['Deployment', spec.selector.matchLabels],
      ...this.#pod.spec.topologySpreadConstraints.map((each: Yaml) => [
        'topologySpreadConstraints',
        each.labelSelector.matchLabels,
      ]),
      ['Service', this.#of('Service').spec.selector],
      ['PodDisruptionBudget', this.#of('PodDisruptionBudget').spec.selector.matchLabels],
      ['PodMonitor', this.#of('PodMonitor').spec.selector.matchLabels],
      ['NetworkPolicy', this.#of('NetworkPolicy').spec.podSelector.matchLabels],
    ];
    const finds = (wanted: Labels = {}) =>
      Object.keys(wanted).length > 0 && Object.entries(wanted).every(([name, value]) => labels[name] === value);
    return [
      ...selectors.flatMap(([kind, wanted]) =>
        finds(wanted) ? [] : [`the selector of ${kind} does not find the pods`],
      ),
      ...this.#manifests.flatMap(({ apiVersion, kind, metadata }) =>
        apiVersion && kind && metadata?.name ? [] : [`${kind ?? 'a manifest'} lacks apiVersion, kind or name`],
      ),
    ];
  }

  /** Ports by a name that the container does not give, one that it does not listen on, probes of routes that there are not. */
  portFaults(routes: readonly string[]): string[] {
    const { ports, livenessProbe, readinessProbe, startupProbe } = this.container;
    const [{ podMetricsEndpoints: scrapes }, policy] = [this.#of('PodMonitor').spec, this.#of('NetworkPolicy').spec];
    const used: [string, unknown][] = [
      ['livenessProbe', livenessProbe.httpGet.port],
      ['readinessProbe', readinessProbe.httpGet.port],
      ['startupProbe', startupProbe.httpGet.port],
      ...this.#of('Service').spec.ports.map((port: Yaml) => ['Service', port.targetPort]),
      ...scrapes.map((scrape: Yaml) => ['PodMonitor', scrape.port]),
      ...policy.ingress.flatMap((rule: Yaml) => rule.ports.map((port: Yaml) => ['NetworkPolicy', port.port])),
    ];
    const paths = [livenessProbe, readinessProbe, startupProbe].map((probe) => probe.httpGet.path);
    const listening = ports.find((port: Yaml) => String(port.containerPort) === this.environment.PORT)?.name;
    return [
      ...used.flatMap(([who, port]) =>
        port === listening ? [] : [`${who}: port ${String(port)} is not where the gateway listens`],
      ),
      ...[...paths, ...scrapes.map((scrape: Yaml) => scrape.path)].flatMap((path) =>
        routes.includes(path) ? [] : [`there is no route ${path}`],
      ),
    ];
  }

  volumeFaults(
    environment = this.environment,
    mounts: Mount[] = this.container.volumeMounts,
    volumes: Yaml[] = this.#pod.spec.volumes,
  ): string[] {
    const mountOf = (path: string) =>
      mounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
    const written = Object.entries({ ...environment, 'temporary files': '/tmp' }).filter(([name]) =>
      ['SNAPSHOT_FILE', 'temporary files'].includes(name),
    );
    const readFiles = Object.entries(environment).filter(
      ([name]) => name.endsWith('_FILE') && name !== 'SNAPSHOT_FILE',
    );
    return [
      ...mounts.flatMap(({ name, subPath }) => [
        ...(volumes.some((volume) => volume.name === name) ? [] : [`${name} is mounted and is no volume`]),
        ...(subPath === undefined ? [] : [`${name} is mounted with subPath: what is renewed would never be seen`]),
      ]),
      ...volumes.flatMap((volume) =>
        mounts.some(({ name }) => name === volume.name) ? [] : [`the volume ${volume.name} is not mounted`],
      ),
      ...readFiles.flatMap(([name, path]) =>
        mountOf(path)?.readOnly ? [] : [`${name}: ${path} is in no volume that is mounted read-only`],
      ),
      ...written.flatMap(([name, path]) =>
        mountOf(path)?.readOnly === undefined && mountOf(path) ? [] : [`${name}: ${path} cannot be written`],
      ),
    ];
  }

  /** Settings that the program does not know or does not take. */
  settingFaults(environment = this.environment): string[] {
    const { terminationGracePeriodSeconds: grace } = this.#pod.spec;
    const unknown = Object.keys(environment).filter((name) => !KNOWN_NAMES.includes(name));
    const generated = new Set(this.#kustomization.configMapGenerator.map((map: Yaml) => map.name));
    const referred = this.container.envFrom.map((from: Yaml) => from.configMapRef.name);
    const stopMs = Number(environment.SHUTDOWN_DELAY_MS) + Number(environment.SHUTDOWN_GRACE_MS);
    return [
      ...unknown.map((name) => `${name} is no setting`),
      ...valueFaults(environment),
      ...referred.flatMap((name: string) => (generated.has(name) ? [] : [`there is no ConfigMap ${name}`])),
      ...(grace * 1000 > stopMs ? [] : ['terminationGracePeriodSeconds is shorter than a stop may take']),
      ...(this.#kustomization.images.some(({ name }: Yaml) => name === this.container.image)
        ? []
        : [`no image stands for ${this.container.image}`]),
    ];
  }

  /** What the restricted standard of pod security asks for, and the user of the image. */
  securityFaults(user: string): string[] {
    const { securityContext: pod } = this.#pod.spec;
    const { securityContext: container } = this.container;
    const faults: Record<string, boolean> = {
      [`the user is not that of the image, ${user}`]:
        `${pod.runAsUser}:${pod.runAsGroup}` !== user || pod.fsGroup !== pod.runAsGroup,
      'may run as root': pod.runAsNonRoot !== true,
      'no seccomp profile': pod.seccompProfile?.type !== 'RuntimeDefault',
      'the root file system can be written': container.readOnlyRootFilesystem !== true,
      'may gain privileges': container.allowPrivilegeEscalation !== false,
      'keeps capabilities': container.capabilities?.drop?.[0] !== 'ALL',
      'has a token of the cluster': this.#pod.spec.automountServiceAccountToken !== false,
      'two instances cannot be spread': this.#of('Deployment').spec.replicas < 2,
    };
    return Object.keys(faults).filter((fault) => faults[fault]);
  }

  #of(kind: string): Manifest {
    const found = this.#manifests.find((manifest) => manifest.kind === kind);
    if (!found) throw new Error(`no ${kind}`);
    return found;
  }
}

/** The component that adds sharing, laid over the base as kustomize does it. */
function fleetFaults(files: Files, base: Base): string[] {
  const { spec } = read(files['fleet/sharing.yaml']);
  const [container] = spec.template.spec.containers;
  const environment = { ...base.environment, ...toEnvironment(container.env) };
  const mounts = [...base.container.volumeMounts, ...container.volumeMounts];
  const own = new Base(files).volumeFaults(environment, mounts, [...volumesOf(files), ...spec.template.spec.volumes]);
  return [
    ...(container.name === base.container.name ? [] : ['fleet: the patched container is not that of the Deployment']),
    ...[...own, ...base.settingFaults(environment)].map((fault) => `fleet: ${fault}`),
  ];
}

const volumesOf = (files: Files): Yaml[] => read(files['deployment.yaml']).spec.template.spec.volumes;

const toEnvironment = (env: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(env.map(({ name, value }) => [name, value]));

/** What the program finds wrong, but for files that only a pod has. */
function valueFaults(environment: Readonly<Record<string, string>>): string[] {
  try {
    readSettings(environment, { sandbox: false, sandboxAlone: false });
    return [];
  } catch (error) {
    if (!(error instanceof SettingsInvalid)) throw error;
    return error.errors
      .filter(({ problem }) => !problem.includes('does not exist'))
      .map(({ variable, problem }) => `${variable} ${problem}`);
  }
}
