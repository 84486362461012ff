-- wrk's results as one line of JSON, for load.mjs.
done = function(summary, latency, requests)
  local e = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"bytes":%d,"errors":%d,"p50":%.0f,"p99":%.0f}\n',
    summary.requests, summary.duration, summary.bytes,
    e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(99)))
end
