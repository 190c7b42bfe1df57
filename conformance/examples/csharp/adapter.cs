// An adapter in C#, for a broker that is configured by command line flags:
//
//   dotnet run --project . -- COMMAND ..      COMMAND .. starts the broker, e.g.  truemq serve
//
// It reads one line of JSON from standard input, starts the broker with the matching flags, answers one line of JSON on standard output,
// and ends on SIGTERM or when its standard input closes. A broker that is written in .NET can run in this
// process instead: replace the flags by its options, and Stop by its StopAsync.
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.Json.Nodes;

// The settings of the adapter protocol for which this broker has a flag, and what follows their values.
var flags = new Dictionary<string, (string Flag, string Unit)>
{
    ["limits.maxConnections"] = ("--max-connections", ""),
    ["limits.maxMessageSizeBytes"] = ("--max-message-size", ""),
    ["limits.maxInFlightPerSubscriber"] = ("--max-in-flight-per-subscriber", ""),
    ["limits.maxBlockedPublishes"] = ("--max-blocked-publishes", ""),
    ["limits.maxQueuedBytes"] = ("--max-queued-bytes", ""),
    ["limits.maxQueues"] = ("--max-queues", ""),
    ["limits.maxSubscriptionsPerConnection"] = ("--max-subscriptions-per-connection", ""),
    ["limits.maxOutboundBytes"] = ("--max-outbound-bytes", ""),
    ["limits.maxStructureBytes"] = ("--max-structure-bytes", ""),
    ["queueDefaults.deliveryMode"] = ("--default-delivery-mode", ""),
    ["queueDefaults.maxQueueSize"] = ("--max-queue-size", ""),
    ["queueDefaults.enableAutoCreate"] = ("--enable-auto-create", ""),
    ["timing.ackTimeoutMs"] = ("--ack-timeout", "ms"),
    ["timing.retryDelayMs"] = ("--retry-delay", "ms"),
    ["timing.maxRetryDelayMs"] = ("--max-retry-delay", "ms"),
    ["timing.handshakeTimeoutMs"] = ("--handshake-timeout", "ms"),
    ["timing.frameTimeoutMs"] = ("--frame-timeout", "ms"),
    ["timing.idleTimeoutMs"] = ("--idle-timeout", "ms"),
    ["timing.shutdownTimeoutMs"] = ("--shutdown-timeout", "ms"),
    ["rateLimit.maxConnectionsPerIpPerWindow"] = ("--max-connections-per-ip-per-window", ""),
    ["rateLimit.connectionWindowMs"] = ("--connection-window", "ms"),
    ["rateLimit.maxMessagesPerClientPerSecond"] = ("--max-messages-per-client-per-second", ""),
};
string[] groups = ["authentication", "tls", "rateLimit", "limits", "queueDefaults", "timing"];

var request = JsonNode.Parse(Console.In.ReadLine() ?? "{}")!;
var start = new ProcessStartInfo(args[0]) { RedirectStandardInput = true, RedirectStandardOutput = true };
foreach (var word in args.Skip(1)) start.ArgumentList.Add(word);
foreach (var word in new[] { "--port", "0", "--health-port", "0", "--dashboard", "off", "--print-ready" }) start.ArgumentList.Add(word);

// List every setting without a flag as unsupported: a setting that is neither applied nor listed makes checks fail.
var unsupported = new JsonArray();
if ((string?)request["storage"] != "memory") unsupported.Add("storage");
foreach (var group in groups)
{
    if (request[group] is not JsonObject settings) continue;
    foreach (var (name, value) in settings)
    {
        if (value is null) continue;
        if (!flags.TryGetValue($"{group}.{name}", out var known)) { unsupported.Add($"{group}.{name}"); continue; }
        start.ArgumentList.Add(known.Flag);
        start.ArgumentList.Add(value + known.Unit);
    }
}
if (request["rateLimit"] is null) { start.ArgumentList.Add("--rate-limit"); start.ArgumentList.Add("off"); }

using var broker = Process.Start(start)!;
broker.StandardInput.Close();

// Sends SIGTERM by kill(2), because Process.Kill sends SIGKILL. On Windows, only closing the standard input of the broker stops it cleanly.
void Stop()
{
    if (broker.HasExited) return;
    if (OperatingSystem.IsWindows()) broker.Kill(entireProcessTree: true);
    else Kill(broker.Id, 15);
}
using var onTerminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, context => { context.Cancel = true; Stop(); });
// The broker reads its certificates again.
using var onHangup = PosixSignalRegistration.Create(PosixSignal.SIGHUP, context =>
{
    context.Cancel = true;
    if (!OperatingSystem.IsWindows() && !broker.HasExited) Kill(broker.Id, 1);
});

if (broker.StandardOutput.ReadLine() is not { } ready)
{
    broker.WaitForExit();
    Say(new JsonObject { ["ready"] = false, ["error"] = $"the broker ended with {broker.ExitCode} before it listened" });
    return 1;
}
var where = JsonNode.Parse(ready)!;
Say(new JsonObject
{
    ["ready"] = true,
    ["broker"] = new JsonObject { ["name"] = "TrueMQ by a C# program" },
    ["tcp"] = where["tcp"]!.DeepClone(),
    ["health"] = where["health"]?.DeepClone(),
    ["unsupported"] = unsupported,
});

// The end of standard input means the same as SIGTERM.
_ = Task.Run(() => { while (Console.In.ReadLine() is not null) { } Stop(); });
broker.WaitForExit();
return broker.ExitCode;

// Console.Out flushes after each line, unless the program replaces it by another writer.
static void Say(JsonObject answer)
{
    answer["protocol"] = 1;
    Console.Out.WriteLine(answer.ToJsonString(new JsonSerializerOptions { WriteIndented = false }));
}

[DllImport("libc", EntryPoint = "kill")]
static extern int Kill(int processId, int signal);
