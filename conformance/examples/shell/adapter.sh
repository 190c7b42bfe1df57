#!/bin/sh
# An adapter in plain POSIX shell, for a broker that is configured by command line flags:
#
#   adapter.sh COMMAND ..        COMMAND .. starts the broker, e.g.  adapter.sh truemq serve
#
# It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard
# output, and ends on SIGTERM or when its standard input closes. Everything else goes to standard error.
# The flags are those of TrueMQ: replace them by yours. The answer lists settings without a flag in `unsupported`.
set -u

say() { printf '%s\n' "$1"; }
refuse() { say "{\"protocol\":1,\"ready\":false,\"error\":\"$1\"}"; exit 1; }

IFS= read -r request || refuse 'no configuration came'

# The values of the keys that occur once in the line: numbers and words, without their quotes.
value() { printf '%s' "$request" | sed -n "s/.*\"$1\":\"\{0,1\}\([A-Za-z0-9.]*\).*/\1/p"; }

# flag KEY FLAG [UNIT]: adds FLAG to the flags of the broker if the request contains KEY.
flags=''
flag() {
  given=$(value "$1")
  [ -z "$given" ] || flags="$flags $2 $given${3-}"
}
flag maxConnections --max-connections
flag maxMessageSizeBytes --max-message-size
flag maxInFlightPerSubscriber --max-in-flight-per-subscriber
flag maxBlockedPublishes --max-blocked-publishes
flag maxQueuedBytes --max-queued-bytes
flag maxQueues --max-queues
flag maxSubscriptionsPerConnection --max-subscriptions-per-connection
flag maxOutboundBytes --max-outbound-bytes
flag maxStructureBytes --max-structure-bytes
flag deliveryMode --default-delivery-mode
flag maxQueueSize --max-queue-size
flag enableAutoCreate --enable-auto-create
flag ackTimeoutMs --ack-timeout ms
flag retryDelayMs --retry-delay ms
flag maxRetryDelayMs --max-retry-delay ms
flag handshakeTimeoutMs --handshake-timeout ms
flag frameTimeoutMs --frame-timeout ms
flag idleTimeoutMs --idle-timeout ms
flag shutdownTimeoutMs --shutdown-timeout ms
flag maxConnectionsPerIpPerWindow --max-connections-per-ip-per-window
flag connectionWindowMs --connection-window ms
flag maxMessagesPerClientPerSecond --max-messages-per-client-per-second

# null means off, but the default of this broker is on.
case $request in *'"rateLimit":null'*) flags="$flags --rate-limit off" ;; esac

# List every setting without a flag as unsupported: a setting that is neither applied nor listed makes checks fail.
unsupported=''
case $request in *'"authentication":{'*) unsupported="$unsupported,\"authentication\"" ;; esac
case $request in *'"tls":{'*) unsupported="$unsupported,\"tls\"" ;; esac
[ -z "$(value memoryLimitBytes)" ] || unsupported="$unsupported,\"limits.memoryLimitBytes\""
case $request in *'"storage":"memory"'*) ;; *) unsupported="$unsupported,\"storage\"" ;; esac

# The broker prints one line when it listens. A named pipe lets this script wait for the line. Keep the reading end
# open (4): otherwise SIGPIPE ends a broker that prints again.
directory=$(printf '%s' "$request" | sed -n 's/.*"dataDirectory":"\([^"]*\)".*/\1/p')
pipe=$directory/ready
[ -p "$pipe" ] || mkfifo "$pipe" || refuse 'no named pipe can be made in the data directory'
# shellcheck disable=SC2086 # the flags are words without spaces
"$@" --port 0 --health-port 0 --dashboard off --print-ready $flags >"$pipe" </dev/null &
broker=$!
# Forwards SIGTERM, and SIGHUP, which asks the broker to read its certificates again. Whoever has read the answer may send them.
stop() { kill -TERM "$broker" 2>/dev/null; }
trap stop TERM INT
trap 'kill -HUP "$broker" 2>/dev/null' HUP
exec 3<&0 4<"$pipe"
IFS= read -r ready <&4 || { wait "$broker"; refuse 'the broker ended before it listened; its log says why'; }

port=$(printf '%s' "$ready" | sed -n 's/.*"tcp":{[^}]*"port":\([0-9]*\).*/\1/p')
health=$(printf '%s' "$ready" | sed -n 's/.*"health":{"url":"\([^"]*\)".*/\1/p')
say "{\"protocol\":1,\"ready\":true,\"broker\":{\"name\":\"TrueMQ by a shell script\"},\"tcp\":{\"host\":\"127.0.0.1\",\"port\":$port},\"health\":{\"url\":\"$health\"},\"unsupported\":[${unsupported#,}]}"

# The end of standard input means the same as SIGTERM. The adapter runs as long as the broker.
{ cat >/dev/null; stop; } <&3 &
watcher=$!
exec 3<&-
wait "$broker"
status=$?
# A signal interrupts `wait`, not the broker.
while kill -0 "$broker" 2>/dev/null; do
  wait "$broker"
  status=$?
done
kill "$watcher" 2>/dev/null
exit "$status"
