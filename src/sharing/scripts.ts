/**
 * What happens in Redis in one step. Whatever else lies under our keys is no error: a value of another type or form counts as
 * nothing, and none is read beyond its bound. A lease is `owner:fence`, always with an end; a record begins with its
 * fence and the number of its pieces in plain digits, for the scripts, and goes on sealed.
 */

const HELPERS = `
local function text(key, limit)
  local found = redis.pcall('GETRANGE', key, 0, limit - 1)
  if type(found) == 'string' then return found end
  return ''
end
local function number(digits)
  if digits and #digits <= 15 then return tonumber(digits) or 0 end
  return 0
end
local function holder(key)
  local found = text(key, 100)
  local left = redis.call('PTTL', key)
  if found:match('^%x+:%d+$') and left > 0 and left <= 60000 then return found end
  return ''
end
`;

/** A fleet that is gone leaves nothing behind. */
const FENCE_LASTS_MS = 7 * 86_400_000;

/**
 * KEYS lease, fence, record, wait, probe; ARGV owner, lease ms, 1 to take the lease, longest record. Gives time, holder, fence,
 * record, wait. An instance that only looks writes too: a Redis that takes nothing is of no use, and nobody must wait for what another
 * could not store.
 */
export const ENTER = `${HELPERS}
redis.call('SET', KEYS[5], '1', 'PX', ARGV[2])
local time = redis.call('TIME')
local fence = 0
local held = holder(KEYS[1])
if ARGV[3] == '1' and held == '' then
  local last = math.max(number(text(KEYS[2], 16):match('^%d+$')), number(text(KEYS[3], 16):match('^(%d+) ')))
  fence = last + 1
  held = ARGV[1] .. ':' .. string.format('%.0f', fence)
  redis.call('SET', KEYS[2], string.format('%.0f', fence), 'PX', ${FENCE_LASTS_MS})
  redis.call('SET', KEYS[1], held, 'PX', ARGV[2])
end
return { time[1] .. string.format('%06d', time[2]), held, fence, text(KEYS[3], ARGV[4]), text(KEYS[4], ARGV[4]) }
`;

/** KEYS lease; ARGV owner:fence, ms. */
export const RENEW = `${HELPERS}
if text(KEYS[1], 100) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0
`;

/** Compare and delete. KEYS lease; ARGV owner:fence, channel, message. */
export const RELEASE = `${HELPERS}
if text(KEYS[1], 100) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[2], ARGV[3])
return 1
`;

/**
 * A record takes the place of an older one: a writer who was late is refused, whose fence is lower than that of a record or of
 * a lease taken since; what was found under that one, a withdrawn grant for example, must not be undone. KEYS lease, record,
 * wait, fence; ARGV owner:fence, fence, record, ms, channel, message. Gives 0 when refused, else 1, and fence and pieces of
 * the older.
 */
export const COMMIT = `${HELPERS}
local older = text(KEYS[2], 40)
local before, pieces = older:match('^(%d+) (%d+) ')
local kept = 0
if number(ARGV[2]) >= math.max(number(before), number(text(KEYS[4], 16):match('^%d+$'))) then
  redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
  redis.call('DEL', KEYS[3])
  kept = 1
end
if text(KEYS[1], 100) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[5], ARGV[6])
return { kept, number(before), number(pieces) }
`;

/** What was tried failed. KEYS lease, record, wait; ARGV owner:fence, wait, ms, 1 to drop the record, channel, message. */
export const FAIL = `${HELPERS}
if text(KEYS[1], 100) == ARGV[1] then
  redis.call('SET', KEYS[3], ARGV[2], 'PX', ARGV[3])
  redis.call('DEL', KEYS[1])
end
if ARGV[4] == '1' then redis.call('DEL', KEYS[2]) end
redis.call('PUBLISH', ARGV[5], ARGV[6])
return 1
`;

/** KEYS record; ARGV channel, message. */
export const DROP = `
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[1], ARGV[2])
return 1
`;

/** KEYS instances, lease; ARGV owner, ms for which an instance counts. Gives how many there are, and the holder. */
export const BEAT = `${HELPERS}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('TYPE', KEYS[1]).ok ~= 'zset' then redis.call('DEL', KEYS[1]) end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + 1, '+inf')
redis.call('PEXPIRE', KEYS[1], ARGV[2] * 2)
return { redis.call('ZCARD', KEYS[1]), holder(KEYS[2]) }
`;
