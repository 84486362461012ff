/**
 * The log events that the last hour shows, each with its sentence: those that someone may have to act on, and those that say
 * that it is well again. What a line says beyond that may name files, hosts or settings, and stays in the log.
 */
export const NOTABLE_EVENTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'gateway.started': 'the gateway serves',
    'gateway.stopping': 'the gateway is stopping',
    'gateway.fault': 'a fault of the gateway; the process ends',
    'internal-error': 'a fault of the gateway',
    'config.warning': 'a setting is not as it may have been meant',
    'config.reload': 'certificate and credentials are looked at again',
    'certificate.loaded': 'the client certificate is loaded',
    'certificate.replaced': 'a new certificate is in use',
    'certificate.refused': 'a new certificate, or other credentials, are not taken; the old ones stay',
    'certificate.expiring': 'a certificate ends soon, or has ended',
    'certificate.unusable': 'the client certificate cannot be used now',
    'certificate.warning': 'something about the client certificate is not as it should be',
    'token.failed': 'no access token',
    'token.rejected': 'the bank rejected the token before its end',
    'token.lifetime-unknown': 'the bank does not say how long the token lives',
    'bank.unavailable': 'the bank cannot be used',
    'bank.recovered': 'the bank can be used again',
    'bank.drift': 'the bank sends something that is not known',
    'snapshot.failed': 'the accounts could not be read',
    'snapshot.incomplete': 'the list changed while it was read; it may lack or repeat accounts',
    'snapshot.emptied': 'the bank lists no accounts any more',
    'traces.unavailable': 'traces cannot be sent; they are lost until they can',
    'sharing.unavailable': 'the store that instances share cannot be used; this one goes on alone',
    'sharing.recovered': 'the store that instances share can be used again',
    'sharing.refused': 'what is shared cannot be opened, and is ignored',
  }),
);
