import { describe, expect, it } from '@jest/globals';
import { toDeliveredSbom } from '../../config/build/sbom.ts';

const DEVELOPMENT = { name: 'cdx:npm:package:development', value: 'true' };

function component(name: string, properties: { name: string; value: string }[] = [DEVELOPMENT]) {
  return { 'bom-ref': `${name}@1.0.0`, name, scope: 'optional', properties };
}

describe('the SBOM of a build', () => {
  const all = {
    serialNumber: 'urn:uuid:1',
    specVersion: '1.5',
    metadata: { timestamp: '2026-11-21T08:00:00.000Z', tools: [], component: component('folder', []) },
    components: [component('bundled'), component('below-bundled'), component('compiler'), component('node', [])],
    dependencies: [
      { ref: 'folder@1.0.0', dependsOn: ['bundled@1.0.0', 'compiler@1.0.0', 'node@1.0.0'] },
      { ref: 'bundled@1.0.0', dependsOn: ['below-bundled@1.0.0', 'not-imported@1.0.0'] },
      { ref: 'compiler@1.0.0', dependsOn: ['below-bundled@1.0.0'] },
    ],
  };
  const bundled = ['bundled', 'below-bundled'].map((name) => ({ folder: `/${name}`, name, version: '1.0.0' }));
  const sbom = toDeliveredSbom(all, bundled);

  it('lists the bundled packages as shipped, no tool, and not the Node of npm ci', () => {
    expect(sbom.components).toEqual(
      ['bundled', 'below-bundled'].map((name) => ({ ...component(name, []), scope: 'required' })),
    );
  });

  it('refers only to packages that it lists', () => {
    expect(sbom.dependencies).toEqual([
      { ref: 'folder@1.0.0', dependsOn: ['bundled@1.0.0'] },
      { ref: 'bundled@1.0.0', dependsOn: ['below-bundled@1.0.0'] },
    ]);
  });

  it('is the same for the same commit: without time, serial number and the name of the folder', () => {
    expect(sbom).not.toHaveProperty('serialNumber');
    expect(sbom.metadata).toEqual({
      tools: [],
      component: { ...component('accounts-gateway', []), 'bom-ref': 'folder@1.0.0' },
    });
  });

  it('omits a bundled package of another version', () => {
    const other = bundled.map((each) => ({ ...each, version: '2.0.0' }));
    expect(toDeliveredSbom(all, other).components).toEqual([]);
  });
});
