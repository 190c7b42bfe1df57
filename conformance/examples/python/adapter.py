"""An adapter in Python, for a broker that is configured by command line flags.

    python3 adapter.py COMMAND ..     COMMAND .. starts the broker, e.g.  python3 adapter.py truemq serve

It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard output,
and ends on SIGTERM or when its standard input closes. Everything else goes to standard error. The flags are those
of TrueMQ: put yours in their place. It needs Python 3.8 or later and nothing else.
"""

import json
import signal
import subprocess
import sys
import threading

# The settings of the adapter protocol for which this broker has a flag, and how their values are written.
FLAGS = {
    "limits.maxConnections": ("--max-connections", "{}"),
    "limits.maxMessageSizeBytes": ("--max-message-size", "{}"),
    "limits.maxInFlightPerSubscriber": ("--max-in-flight-per-subscriber", "{}"),
    "limits.maxBlockedPublishes": ("--max-blocked-publishes", "{}"),
    "limits.maxQueuedBytes": ("--max-queued-bytes", "{}"),
    "limits.maxQueues": ("--max-queues", "{}"),
    "limits.maxSubscriptionsPerConnection": ("--max-subscriptions-per-connection", "{}"),
    "limits.maxOutboundBytes": ("--max-outbound-bytes", "{}"),
    "limits.maxStructureBytes": ("--max-structure-bytes", "{}"),
    "queueDefaults.deliveryMode": ("--default-delivery-mode", "{}"),
    "queueDefaults.maxQueueSize": ("--max-queue-size", "{}"),
    "queueDefaults.enableAutoCreate": ("--enable-auto-create", "{}"),
    "timing.ackTimeoutMs": ("--ack-timeout", "{}ms"),
    "timing.retryDelayMs": ("--retry-delay", "{}ms"),
    "timing.maxRetryDelayMs": ("--max-retry-delay", "{}ms"),
    "timing.handshakeTimeoutMs": ("--handshake-timeout", "{}ms"),
    "timing.frameTimeoutMs": ("--frame-timeout", "{}ms"),
    "timing.idleTimeoutMs": ("--idle-timeout", "{}ms"),
    "timing.shutdownTimeoutMs": ("--shutdown-timeout", "{}ms"),
    "rateLimit.maxConnectionsPerIpPerWindow": ("--max-connections-per-ip-per-window", "{}"),
    "rateLimit.connectionWindowMs": ("--connection-window", "{}ms"),
    "rateLimit.maxMessagesPerClientPerSecond": ("--max-messages-per-client-per-second", "{}"),
}
GROUPS = ("authentication", "tls", "rateLimit", "limits", "queueDefaults", "timing")


def settings_of(request):
    """The requested settings by dotted name, without those that are null."""
    for group in GROUPS:
        for name, value in (request.get(group) or {}).items():
            yield f"{group}.{name}", value
    if request["storage"] != "memory":
        yield "storage", request["storage"]


def flags_for(request):
    """The flags of the broker, and the settings without a flag: the answer must list them as unsupported."""
    flags, unsupported = [], []
    for name, value in settings_of(request):
        if name not in FLAGS:
            unsupported.append(name)
            continue
        flag, form = FLAGS[name]
        flags += [flag, form.format(str(value).lower() if isinstance(value, bool) else value)]
    if request["rateLimit"] is None:  # null means off, but the default of this broker is on
        flags += ["--rate-limit", "off"]
    return flags, unsupported


def say(answer):
    print(json.dumps({"protocol": 1, **answer}), flush=True)


def main():
    flags, unsupported = flags_for(json.loads(sys.stdin.readline()))
    command = [*sys.argv[1:], "--port", "0", "--health-port", "0", "--dashboard", "off", "--print-ready", *flags]
    broker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    # From now on, signals go to the broker, and the adapter runs as long as the broker.
    signal.signal(signal.SIGTERM, lambda *_: broker.terminate())
    if hasattr(signal, "SIGHUP"):  # Windows has none.
        signal.signal(signal.SIGHUP, lambda *_: broker.send_signal(signal.SIGHUP))
    ready = broker.stdout.readline()
    if not ready:
        say({"ready": False, "error": f"the broker ended with {broker.wait()} before it listened; its log says why"})
        return 1
    where = json.loads(ready)
    name = {"name": "TrueMQ by a Python script"}
    say({"ready": True, "broker": name, "tcp": where["tcp"], "health": where["health"], "unsupported": unsupported})
    # The end of standard input means the same as SIGTERM: the runner has ended, or the system has no signals.
    threading.Thread(target=lambda: (sys.stdin.read(), broker.terminate()), daemon=True).start()
    return broker.wait()


if __name__ == "__main__":
    sys.exit(main())
