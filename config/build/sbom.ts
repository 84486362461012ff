import type { BundledPackage } from './bundled-packages.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties: readonly { readonly name: string }[];
}

interface Dependencies {
  readonly ref: string;
  readonly dependsOn: readonly string[];
}

/** The output of `npm sbom --sbom-format cyclonedx`. */
export interface Sbom {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependencies[];
}

/**
 * The part of an SBOM that ships: the packages in the bundle. For npm they are development dependencies, because nobody
 * installs them to run dist/. Node is not among them: the image and the operator have their own. Omits time and serial number, so that equal builds have equal SBOMs.
 */
export function toDeliveredSbom(
  { serialNumber: _serialNumber, metadata: { timestamp: _timestamp, ...metadata }, ...sbom }: Sbom,
  packages: readonly BundledPackage[],
): Sbom {
  const refs = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  const components = sbom.components
    .filter(({ 'bom-ref': ref }) => refs.has(ref))
    .map((component) => ({ ...component, scope: 'required', properties: component.properties.filter(isDelivered) }));
  const root = { ...metadata.component, name: 'accounts-gateway' };
  const delivered = new Set([root, ...components].map(({ 'bom-ref': ref }) => ref));
  const dependencies = sbom.dependencies
    .filter(({ ref }) => delivered.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => delivered.has(each)) }));
  return { ...sbom, metadata: { ...metadata, component: root }, components, dependencies };
}

const isDelivered = ({ name }: { readonly name: string }): boolean => name !== 'cdx:npm:package:development';
