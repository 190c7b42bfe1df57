// An adapter in Java, for a broker that is configured by command line flags:
//
//   java adapter.java COMMAND ..      COMMAND .. starts the broker, e.g.  java adapter.java truemq serve
//
// It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard output,
// and ends on SIGTERM or when its standard input closes. Everything else goes to standard error. The flags are those
// of TrueMQ: replace them by yours. It needs JDK 17 or later and nothing else. Java has no JSON reader: the one below is enough for
// the two lines that this program reads. Replace it if you use a JSON library.
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

class Adapter {
    /** A flag of the broker, and the unit that follows its value. */
    record Flag(String name, String unit) {
        Flag(String name) {
            this(name, "");
        }
    }

    /** The settings of the adapter protocol for which this broker has a flag. */
    static final Map<String, Flag> FLAGS = Map.ofEntries(
        Map.entry("limits.maxConnections", new Flag("--max-connections")),
        Map.entry("limits.maxMessageSizeBytes", new Flag("--max-message-size")),
        Map.entry("limits.maxInFlightPerSubscriber", new Flag("--max-in-flight-per-subscriber")),
        Map.entry("limits.maxBlockedPublishes", new Flag("--max-blocked-publishes")),
        Map.entry("limits.maxQueuedBytes", new Flag("--max-queued-bytes")),
        Map.entry("limits.maxQueues", new Flag("--max-queues")),
        Map.entry("limits.maxSubscriptionsPerConnection", new Flag("--max-subscriptions-per-connection")),
        Map.entry("limits.maxOutboundBytes", new Flag("--max-outbound-bytes")),
        Map.entry("limits.maxStructureBytes", new Flag("--max-structure-bytes")),
        Map.entry("queueDefaults.deliveryMode", new Flag("--default-delivery-mode")),
        Map.entry("queueDefaults.maxQueueSize", new Flag("--max-queue-size")),
        Map.entry("queueDefaults.enableAutoCreate", new Flag("--enable-auto-create")),
        Map.entry("timing.ackTimeoutMs", new Flag("--ack-timeout", "ms")),
        Map.entry("timing.retryDelayMs", new Flag("--retry-delay", "ms")),
        Map.entry("timing.maxRetryDelayMs", new Flag("--max-retry-delay", "ms")),
        Map.entry("timing.handshakeTimeoutMs", new Flag("--handshake-timeout", "ms")),
        Map.entry("timing.frameTimeoutMs", new Flag("--frame-timeout", "ms")),
        Map.entry("timing.idleTimeoutMs", new Flag("--idle-timeout", "ms")),
        Map.entry("timing.shutdownTimeoutMs", new Flag("--shutdown-timeout", "ms")),
        Map.entry("rateLimit.maxConnectionsPerIpPerWindow", new Flag("--max-connections-per-ip-per-window")),
        Map.entry("rateLimit.connectionWindowMs", new Flag("--connection-window", "ms")),
        Map.entry("rateLimit.maxMessagesPerClientPerSecond", new Flag("--max-messages-per-client-per-second")));
    static final List<String> GROUPS =
        List.of("authentication", "tls", "rateLimit", "limits", "queueDefaults", "timing");

    public static void main(String[] args) throws Exception {
        var input = new BufferedReader(new InputStreamReader(System.in));
        Map<String, String> request = new Json(input.readLine()).values();
        List<String> command = new ArrayList<>(List.of(args));
        command.addAll(List.of("--port", "0", "--health-port", "0", "--dashboard", "off", "--print-ready"));
        List<String> unsupported = addFlags(request, command);
        Process broker = start(command);

        // On SIGTERM the JVM runs its shutdown hooks. This one stops the broker, waits for it and ends with its exit code.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            broker.destroy(); // SIGTERM; does nothing if the broker has ended
            Runtime.getRuntime().halt(waitFor(broker));
        }));

        // SIGHUP asks the broker to read its certificates again. Windows has no such signal.
        if (!System.getProperty("os.name").startsWith("Windows")) {
            sun.misc.Signal.handle(new sun.misc.Signal("HUP"), signal -> sendHangup(broker));
        }

        var output = new BufferedReader(new InputStreamReader(broker.getInputStream()));
        String ready = output.readLine();
        if (ready == null) {
            refuse("the broker ended with " + waitFor(broker) + " before it listened; its log says why");
        }
        Map<String, String> where = new Json(ready).values();
        String names = unsupported.stream().map(Adapter::quote).collect(Collectors.joining(","));
        say("\"ready\":true,\"broker\":{\"name\":\"TrueMQ by a Java program\"},\"tcp\":{\"host\":" + quote(where.get("tcp.host"))
            + ",\"port\":" + where.get("tcp.port") + "},\"health\":{\"url\":" + quote(where.get("health.url"))
            + "},\"unsupported\":[" + names + "]");

        // The end of standard input means the same as SIGTERM: the runner has ended, or the system has no signals.
        var watcher = new Thread(() -> {
            copy(input, Writer.nullWriter());
            broker.destroy();
        });
        watcher.setDaemon(true);
        watcher.start();
        copy(output, new OutputStreamWriter(System.err)); // until the broker ends; the broker blocks if nobody reads its output
        System.exit(waitFor(broker));
    }

    /** Adds the broker's flags; returns the settings without a flag: a setting that is neither applied nor listed makes checks fail. */
    static List<String> addFlags(Map<String, String> request, List<String> command) {
        List<String> unsupported = new ArrayList<>();
        if (!"memory".equals(request.get("storage"))) unsupported.add("storage");
        request.forEach((name, value) -> {
            String[] parts = name.split("\\.");
            if (value == null || !GROUPS.contains(parts[0])) return;
            String setting = parts[0] + "." + parts[1];
            Flag flag = FLAGS.get(setting);
            if (flag != null) command.addAll(List.of(flag.name(), value + flag.unit()));
            else if (!unsupported.contains(setting)) unsupported.add(setting);
        });
        // null means off, but the default of this broker is on
        if (request.keySet().stream().noneMatch(name -> name.startsWith("rateLimit."))) {
            command.addAll(List.of("--rate-limit", "off"));
        }
        return unsupported;
    }

    static Process start(List<String> command) throws IOException {
        try {
            Process broker = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            broker.getOutputStream().close();
            return broker;
        } catch (IOException error) {
            refuse("the broker cannot be started: " + error.getMessage());
            throw error;
        }
    }

    static void sendHangup(Process broker) {
        try {
            new ProcessBuilder("kill", "-HUP", String.valueOf(broker.pid())).start();
        } catch (IOException error) {
            System.err.println("SIGHUP cannot be forwarded: " + error.getMessage());
        }
    }

    static int waitFor(Process broker) {
        while (true) {
            try {
                return broker.waitFor();
            } catch (InterruptedException again) {
                continue;
            }
        }
    }

    static void copy(BufferedReader from, Writer to) {
        try {
            from.transferTo(to);
            to.flush();
        } catch (IOException closed) {
            return;
        }
    }

    static void say(String members) {
        System.out.println("{\"protocol\":1," + members + "}");
        System.out.flush();
    }

    static void refuse(String reason) {
        say("\"ready\":false,\"error\":" + quote(reason));
        System.exit(1);
    }

    static String quote(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** Reads one object. Returns every value that is not an object or array by its dotted name: numbers and words as text, null as null. */
    static class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        Map<String, String> values() {
            Map<String, String> values = new LinkedHashMap<>();
            read("", values);
            return values;
        }

        private void read(String name, Map<String, String> values) {
            char first = next();
            if (first == '"') {
                values.put(name, string());
            } else if (first == '{' || first == '[') {
                char end = first == '{' ? '}' : ']';
                at++;
                for (int index = 0; next() != end; index++) {
                    String key = first == '{' ? string() : String.valueOf(index);
                    if (first == '{') skip(':');
                    read(name.isEmpty() ? key : name + "." + key, values);
                    if (next() == ',') at++;
                }
                at++;
            } else {
                int start = at;
                while (at < text.length() && ",]} \t".indexOf(text.charAt(at)) < 0) at++;
                String word = text.substring(start, at);
                values.put(name, word.equals("null") ? null : word);
            }
        }

        private String string() {
            var value = new StringBuilder();
            skip('"');
            while (text.charAt(at) != '"') {
                char one = text.charAt(at++);
                value.append(one == '\\' ? escaped() : one);
            }
            at++;
            return value.toString();
        }

        private char escaped() {
            char kind = text.charAt(at++);
            if (kind == 'u') return (char) Integer.parseInt(text.substring(at, at += 4), 16);
            int index = "bfnrt".indexOf(kind);
            return index < 0 ? kind : "\b\f\n\r\t".charAt(index);
        }

        private char next() {
            while (Character.isWhitespace(text.charAt(at))) at++;
            return text.charAt(at);
        }

        private void skip(char expected) {
            if (next() != expected) throw new IllegalArgumentException(expected + " is missing at " + at + " in " + text);
            at++;
        }
    }
}
