import { ErrorReply } from '@redis/client';
import { expect, it } from '@jest/globals';
import { toReason } from './redis-reason.js';

it.each([
  ["ERR unknown command 'EVAL', with args beginning with: ", 'no command renamed (ERR)'],
  ["ERR ACL failure in script: User gw has no permissions to run the 'pexpire' command script: 1", 'ACL of docs/fleet'],
  ["ERR The user executing the script can't run this command or subcommand script: 1", 'ACL of docs/fleet'],
  ['ERR max number of clients reached', 'as many connections as it allows'],
  ['ERR DB index is out of range', 'database'],
  ['ERR something new', 'it rejected a command (ERR)'],
  ['NOREPLICAS Not enough good replicas to write.', 'replicas'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'primary'],
  ['MISCONF Redis is configured to save RDB snapshots', 'disk'],
  ['BUSY Redis is busy running a script.', 'script'],
  ['DENIED Redis is running in protected mode', 'protected mode'],
  ['CLUSTERDOWN Hash slot not served', 'Cluster is not supported'],
  ['NEWWORD text', 'it rejected a command (NEWWORD)'],
])('the reply %j is said in words', (reply, words) => {
  expect(toReason(new ErrorReply(reply))).toContain(words);
});

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

it.each([
  [
    failure(
      'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
      '1:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:ssl/record/rec_layer_s3.c:916:SSL alert number 116\n',
    ),
    'it wants a client certificate, and the gateway has none for Redis (TLS alert 116)',
  ],
  [
    failure(
      'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
      '1:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:x.c:1:SSL alert number 40\n',
    ),
    'TLS alert 40',
  ],
  [
    failure(
      'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
      '1:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:x.c:1:SSL alert number 70\n',
    ),
    'there is no common TLS version (TLS alert 70)',
  ],
  [
    failure('EPROTO', 'write EPROTO 1:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x.c:1:\n'),
    'it does not speak TLS here: compare redis:// and rediss://',
  ],
  [new Error('Unknown RESP type 72 "H"'), 'its reply makes no sense: the server may not be Redis (nonsense)'],
])('the failure %# of a connection is said in words', (error, words) => {
  expect(toReason(error)).toContain(words);
});
