// An adapter in Go, for a broker that is configured by command line flags:
//
//	go build -o adapter adapter.go
//	./adapter COMMAND ..      COMMAND .. starts the broker, e.g.  ./adapter truemq serve
//
// It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard output,
// and ends on SIGTERM or when its standard input closes. Everything else goes to standard error. The flags are those
// of TrueMQ: replace them by yours. It needs Go 1.16 or later and nothing else. Build it first: `go run` does not forward SIGTERM.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

type object map[string]interface{}

// flag is a flag of the broker, and the unit that follows its value.
type flag struct{ name, unit string }

// The settings of the adapter protocol for which this broker has a flag.
var flags = map[string]flag{
	"limits.maxConnections":                   {"--max-connections", ""},
	"limits.maxMessageSizeBytes":              {"--max-message-size", ""},
	"limits.maxInFlightPerSubscriber":         {"--max-in-flight-per-subscriber", ""},
	"limits.maxBlockedPublishes":              {"--max-blocked-publishes", ""},
	"limits.maxQueuedBytes":                   {"--max-queued-bytes", ""},
	"limits.maxQueues":                        {"--max-queues", ""},
	"limits.maxSubscriptionsPerConnection":    {"--max-subscriptions-per-connection", ""},
	"limits.maxOutboundBytes":                 {"--max-outbound-bytes", ""},
	"limits.maxStructureBytes":                {"--max-structure-bytes", ""},
	"queueDefaults.deliveryMode":              {"--default-delivery-mode", ""},
	"queueDefaults.maxQueueSize":              {"--max-queue-size", ""},
	"queueDefaults.enableAutoCreate":          {"--enable-auto-create", ""},
	"timing.ackTimeoutMs":                     {"--ack-timeout", "ms"},
	"timing.retryDelayMs":                     {"--retry-delay", "ms"},
	"timing.maxRetryDelayMs":                  {"--max-retry-delay", "ms"},
	"timing.handshakeTimeoutMs":               {"--handshake-timeout", "ms"},
	"timing.frameTimeoutMs":                   {"--frame-timeout", "ms"},
	"timing.idleTimeoutMs":                    {"--idle-timeout", "ms"},
	"timing.shutdownTimeoutMs":                {"--shutdown-timeout", "ms"},
	"rateLimit.maxConnectionsPerIpPerWindow":  {"--max-connections-per-ip-per-window", ""},
	"rateLimit.connectionWindowMs":            {"--connection-window", "ms"},
	"rateLimit.maxMessagesPerClientPerSecond": {"--max-messages-per-client-per-second", ""},
}
var groups = []string{"authentication", "tls", "rateLimit", "limits", "queueDefaults", "timing"}

// flagsFor returns the broker's flags, and the settings without a flag: a setting that is neither applied nor listed makes checks fail.
func flagsFor(request map[string]json.RawMessage) (words, unsupported []string, err error) {
	unsupported = []string{}
	if string(request["storage"]) != `"memory"` {
		unsupported = append(unsupported, "storage")
	}
	for _, group := range groups {
		var settings map[string]json.RawMessage // stays empty if the group is null or absent
		if raw, given := request[group]; given {
			if err := json.Unmarshal(raw, &settings); err != nil {
				return nil, nil, err
			}
		}
		if group == "rateLimit" && settings == nil { // null means off, but the default of this broker is on
			words = append(words, "--rate-limit", "off")
		}
		for name, value := range settings {
			known, found := flags[group+"."+name]
			if !found {
				unsupported = append(unsupported, group+"."+name)
				continue
			}
			words = append(words, known.name, strings.Trim(string(value), `"`)+known.unit)
		}
	}
	return words, unsupported, nil
}

func say(answer object) {
	answer["protocol"] = 1
	json.NewEncoder(os.Stdout).Encode(answer) // one line; os.Stdout has no buffer
}

func refuse(reason string) int {
	say(object{"ready": false, "error": reason})
	return 1
}

// run returns the exit code of the broker.
func run() int {
	input := bufio.NewReader(os.Stdin)
	line, _ := input.ReadBytes('\n')
	var request map[string]json.RawMessage
	if err := json.Unmarshal(line, &request); err != nil {
		return refuse("the configuration is not JSON: " + err.Error())
	}
	words, unsupported, err := flagsFor(request)
	if err != nil {
		return refuse("the configuration has another form: " + err.Error())
	}
	words = append([]string{"--port", "0", "--health-port", "0", "--dashboard", "off", "--print-ready"}, words...)
	broker := exec.Command(os.Args[1], append(os.Args[2:], words...)...)
	broker.Stderr = os.Stderr
	pipe, err := broker.StdoutPipe()
	if err != nil {
		return refuse(err.Error())
	}
	if err := broker.Start(); err != nil {
		return refuse("the broker cannot be started: " + err.Error())
	}

	// From now on, signals go to the broker, and the adapter runs as long as the broker.
	stop := func() {
		if broker.Process.Signal(syscall.SIGTERM) != nil { // Windows has no SIGTERM
			broker.Process.Kill()
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for received := range signals {
			if received == syscall.SIGHUP { // the broker reads its certificates again
				broker.Process.Signal(received)
			} else {
				stop()
			}
		}
	}()

	output := bufio.NewReader(pipe)
	ready, _ := output.ReadBytes('\n')
	var where struct {
		TCP    object `json:"tcp"`
		Health object `json:"health"`
	}
	if err := json.Unmarshal(ready, &where); err != nil {
		stop()
		broker.Wait()
		code := broker.ProcessState.ExitCode()
		return refuse(fmt.Sprintf("the broker ended with %d before it listened; its log says why", code))
	}
	name := object{"name": "TrueMQ by a Go program"}
	say(object{"ready": true, "broker": name, "tcp": where.TCP, "health": where.Health, "unsupported": unsupported})

	// The end of standard input means the same as SIGTERM: the runner has ended, or the system has no signals.
	go func() {
		io.Copy(io.Discard, input)
		stop()
	}()
	io.Copy(os.Stderr, output) // until the broker ends; the broker blocks if nobody reads its output
	broker.Wait()
	return broker.ProcessState.ExitCode()
}

func main() {
	os.Exit(run())
}
