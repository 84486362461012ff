import type { Sampler } from '@opentelemetry/sdk-trace';
import { isSet, type Environment } from '../config/environment.js';

type Sdk = typeof import('@opentelemetry/sdk-trace');
/** Receives a warning, which never contains a value. */
export type Warn = (warning: string) => void;

/** True if there is an endpoint that can be used. */
export function isWanted(env: Environment, warn: Warn): boolean {
  const specific = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const name = isSet(specific) ? 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT' : 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const endpoint = env[name];
  if (!isSet(endpoint) || env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  if (env['OTEL_TRACES_EXPORTER'] === 'none') return false;
  // the exporter would take localhost for an address that it cannot read
  if (!/^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) {
    warn(`${name} is not an http or https address; no traces are sent`);
    return false;
  }
  const protocol = env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] || env['OTEL_EXPORTER_OTLP_PROTOCOL'];
  if (isSet(protocol) && protocol !== 'http/protobuf') {
    warn('OTEL_EXPORTER_OTLP_PROTOCOL names another protocol; traces are sent by http/protobuf');
  }
  return true;
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/#general-sdk-configuration */
export function toSampler(env: Environment, sdk: Sdk, warn: Warn): Sampler {
  const name = env['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const root = /^(?:parentbased_)?(always_on|always_off|traceidratio)$/.exec(name)?.[1];
  if (root === undefined) warn('OTEL_TRACES_SAMPLER is not supported; using parentbased_always_on');
  let sampler: Sampler = new sdk.AlwaysOnSampler();
  if (root === 'always_off') sampler = new sdk.AlwaysOffSampler();
  if (root === 'traceidratio') sampler = new sdk.TraceIdRatioBasedSampler(toRatio(env, warn));
  return root === name ? sampler : new sdk.ParentBasedSampler({ root: sampler });
}

function toRatio(env: Environment, warn: Warn): number {
  const text = env['OTEL_TRACES_SAMPLER_ARG'];
  const ratio = isSet(text) ? Number(text) : 1;
  if (ratio >= 0 && ratio <= 1) return ratio;
  warn('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1; 1 is taken');
  return 1;
}

/** Parses a whole number from a variable; returns the default if it is invalid. */
export function toNumber(env: Environment, name: string, limits: { default: number; max: number }, warn: Warn): number {
  const text = env[name];
  if (!isSet(text)) return limits.default;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= limits.max) return number;
  warn(`${name} is not a whole number from 1 to ${limits.max}; ${limits.default} is taken`);
  return limits.default;
}
