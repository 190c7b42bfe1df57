// An adapter in Rust, for a broker that is configured by command line flags:
//
//   rustc --edition 2021 -o adapter adapter.rs
//   ./adapter COMMAND ..      COMMAND .. starts the broker, e.g.  ./adapter truemq serve
//
// It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard output,
// and ends on SIGTERM or when its standard input closes. Everything else goes to standard error. The flags are those
// of TrueMQ: replace them by yours. It needs a Unix and no crate. std has no JSON reader and no signal handlers: the reader below is
// enough for the two lines that this program reads, and two functions come from the C library. Replace both if you use crates.
use std::io::{self, BufRead, BufReader};
use std::process::{exit, Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};

/// The settings of the adapter protocol for which this broker has a flag, the flag, and the unit that follows its value.
const FLAGS: [(&str, &str, &str); 22] = [
    ("limits.maxConnections", "--max-connections", ""),
    ("limits.maxMessageSizeBytes", "--max-message-size", ""),
    ("limits.maxInFlightPerSubscriber", "--max-in-flight-per-subscriber", ""),
    ("limits.maxBlockedPublishes", "--max-blocked-publishes", ""),
    ("limits.maxQueuedBytes", "--max-queued-bytes", ""),
    ("limits.maxQueues", "--max-queues", ""),
    ("limits.maxSubscriptionsPerConnection", "--max-subscriptions-per-connection", ""),
    ("limits.maxOutboundBytes", "--max-outbound-bytes", ""),
    ("limits.maxStructureBytes", "--max-structure-bytes", ""),
    ("queueDefaults.deliveryMode", "--default-delivery-mode", ""),
    ("queueDefaults.maxQueueSize", "--max-queue-size", ""),
    ("queueDefaults.enableAutoCreate", "--enable-auto-create", ""),
    ("timing.ackTimeoutMs", "--ack-timeout", "ms"),
    ("timing.retryDelayMs", "--retry-delay", "ms"),
    ("timing.maxRetryDelayMs", "--max-retry-delay", "ms"),
    ("timing.handshakeTimeoutMs", "--handshake-timeout", "ms"),
    ("timing.frameTimeoutMs", "--frame-timeout", "ms"),
    ("timing.idleTimeoutMs", "--idle-timeout", "ms"),
    ("timing.shutdownTimeoutMs", "--shutdown-timeout", "ms"),
    ("rateLimit.maxConnectionsPerIpPerWindow", "--max-connections-per-ip-per-window", ""),
    ("rateLimit.connectionWindowMs", "--connection-window", "ms"),
    ("rateLimit.maxMessagesPerClientPerSecond", "--max-messages-per-client-per-second", ""),
];
const GROUPS: [&str; 6] = ["authentication", "tls", "rateLimit", "limits", "queueDefaults", "timing"];

extern "C" {
    fn signal(number: i32, handler: extern "C" fn(i32)) -> usize;
    fn kill(process: i32, number: i32) -> i32;
}
const SIGHUP: i32 = 1;
const SIGTERM: i32 = 15;

/// The process id of the broker; 0 when it has ended.
static BROKER: AtomicI32 = AtomicI32::new(0);

/// Forwards the signal. It may run as a signal handler, so it only calls kill(2).
extern "C" fn forward(signal: i32) {
    let broker = BROKER.load(Ordering::SeqCst);
    if broker > 0 {
        unsafe { kill(broker, signal) };
    }
}

fn main() {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).expect("standard input");
    let (flags, unsupported) = flags_for(&values(&line));
    let mut words = std::env::args().skip(1);
    let mut broker = Command::new(words.next().expect("the command that starts the broker"))
        .args(words)
        .args(["--port", "0", "--health-port", "0", "--dashboard", "off", "--print-ready"])
        .args(flags)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| refuse(&format!("the broker cannot be started: {error}")));
    // From now on, signals go to the broker, and the adapter runs as long as the broker.
    BROKER.store(broker.id() as i32, Ordering::SeqCst);
    // SIGHUP asks the broker to read its certificates again.
    for number in [SIGTERM, SIGHUP] {
        unsafe { signal(number, forward) };
    }

    let mut output = BufReader::new(broker.stdout.take().expect("a pipe"));
    let mut ready = String::new();
    if output.read_line(&mut ready).unwrap_or(0) == 0 {
        let code = exit_code(&mut broker);
        refuse(&format!("the broker ended with {code} before it listened; its log says why"));
    }
    let listening = values(&ready);
    let found = |name| value_of(&listening, name).unwrap_or("null");
    let (host, port, url) = (quote(found("tcp.host")), found("tcp.port"), quote(found("health.url")));
    let names: Vec<String> = unsupported.iter().map(|name| quote(name)).collect();
    say(&format!(
        r#""ready":true,"broker":{{"name":"TrueMQ by a Rust program"}},"tcp":{{"host":{host},"port":{port}}},"health":{{"url":{url}}},"unsupported":[{}]"#,
        names.join(",")
    ));

    // The end of standard input means the same as SIGTERM: the runner has ended.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        forward(SIGTERM);
    });
    // Until the broker ends; the broker blocks if nobody reads its output.
    let _ = io::copy(&mut output, &mut io::stderr());
    exit(exit_code(&mut broker));
}

/// The broker's flags, and the settings without a flag: a setting that is neither applied nor listed makes checks fail.
fn flags_for(request: &[(String, String)]) -> (Vec<String>, Vec<String>) {
    let (mut flags, mut unsupported) = (Vec::new(), Vec::new());
    if value_of(request, "storage") != Some("memory") {
        unsupported.push("storage".to_string());
    }
    for (name, value) in request {
        let parts: Vec<&str> = name.split('.').collect();
        if !GROUPS.contains(&parts[0]) {
            continue;
        }
        let setting = parts[..2].join(".");
        match FLAGS.iter().find(|(known, _, _)| *known == setting) {
            Some((_, flag, unit)) => flags.extend([flag.to_string(), format!("{value}{unit}")]),
            None if unsupported.contains(&setting) => {}
            None => unsupported.push(setting),
        }
    }
    // null means off, but the default of this broker is on.
    if !request.iter().any(|(name, _)| name.starts_with("rateLimit.")) {
        flags.extend(["--rate-limit".to_string(), "off".to_string()]);
    }
    (flags, unsupported)
}

/// Waits for the broker. Returns its exit code, or 1 if a signal ended it.
fn exit_code(broker: &mut Child) -> i32 {
    let status = broker.wait().expect("the broker is a child of this process");
    BROKER.store(0, Ordering::SeqCst);
    status.code().unwrap_or(1)
}

/// Standard output is flushed after each line.
fn say(members: &str) {
    println!(r#"{{"protocol":1,{members}}}"#);
}

fn refuse(reason: &str) -> ! {
    say(&format!(r#""ready":false,"error":{}"#, quote(reason)));
    exit(1);
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn value_of<'a>(values: &'a [(String, String)], name: &str) -> Option<&'a str> {
    values.iter().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
}

/// Every value of a JSON object that is not an object or array, by its dotted name, as text. Leaves out null.
fn values(line: &str) -> Vec<(String, String)> {
    let mut reader = Reader { text: line.chars().collect(), at: 0 };
    let mut values = Vec::new();
    reader.read("", &mut values);
    values
}

struct Reader {
    text: Vec<char>,
    at: usize,
}

impl Reader {
    fn read(&mut self, name: &str, values: &mut Vec<(String, String)>) {
        match self.next() {
            '"' => values.push((name.to_string(), self.string())),
            first @ ('{' | '[') => {
                self.at += 1;
                let mut index = 0;
                while !matches!(self.next(), '}' | ']') {
                    let key = if first == '{' { self.string() } else { index.to_string() };
                    if first == '{' {
                        self.skip(':');
                    }
                    self.read(&if name.is_empty() { key } else { format!("{name}.{key}") }, values);
                    index += 1;
                    if self.next() == ',' {
                        self.at += 1;
                    }
                }
                self.at += 1;
            }
            _ => {
                let start = self.at;
                while self.at < self.text.len() && !",]} \t\r\n".contains(self.text[self.at]) {
                    self.at += 1;
                }
                let word: String = self.text[start..self.at].iter().collect();
                if word != "null" {
                    values.push((name.to_string(), word));
                }
            }
        }
    }

    fn string(&mut self) -> String {
        let mut value = String::new();
        self.skip('"');
        while self.text[self.at] != '"' {
            let one = self.text[self.at];
            self.at += 1;
            value.push(if one == '\\' { self.escaped() } else { one });
        }
        self.at += 1;
        value
    }

    fn escaped(&mut self) -> char {
        let kind = self.text[self.at];
        self.at += 1;
        match kind {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits: String = self.text[self.at..self.at + 4].iter().collect();
                self.at += 4;
                u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            other => other,
        }
    }

    /// Skips white space. Panics at the end of a line that is not JSON.
    fn next(&mut self) -> char {
        while self.text[self.at].is_whitespace() {
            self.at += 1;
        }
        self.text[self.at]
    }

    fn skip(&mut self, expected: char) {
        assert_eq!(self.next(), expected, "at character {} of the line", self.at);
        self.at += 1;
    }
}
