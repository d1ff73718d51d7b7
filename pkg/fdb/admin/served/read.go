package served

import (
	"context"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

const (
	reading = "read served certificates"
	// connectLimit ends one connection, and runLimit all of a run.
	connectLimit = 3 * time.Second
	runLimit     = 10 * time.Second
	// atOnce is how many processes are connected to in one run.
	atOnce = 64
)

// script connects to all addresses at the same time with the TCP connections of bash. Its arguments are the seconds
// for each, the first messages in base64, and host and port of each. It prints a line for each in their order: the response
// in base64, or nothing. Responses are longer than a pipe writes at once, so each has a pipe of its own.
const script = `limit=$1
hello=$2
shift 2
for program in timeout base64 head; do
  command -v "$program" >/dev/null 2>&1 || { echo "missing $program"; exit 0; }
done
connect() {
  timeout "$limit" bash -c 'exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" | base64 -d >&3 && head -c 65536 <&3' bash "$1" "$2" "$hello" 2>/dev/null | base64 -w 0
}
pipes=()
while [ "$#" -gt 0 ]; do
  exec {pipe}< <(connect "$1" "$2")
  pipes+=("$pipe")
  shift 2
done
for pipe in "${pipes[@]}"; do
  response=
  read -r response <&"$pipe"
  echo "response $response"
done
echo end`

var (
	responseLine = regexp.MustCompile(`^response ([A-Za-z0-9+/=]*)$`)
	missingLine  = regexp.MustCompile(`^missing (timeout|base64|head)\n$`)
)

// Read connects to the addresses from a container and returns the certificate that each of them serves, in the same order.
// An address that does not respond is a result with a reason. It changes nothing: each process logs a failed handshake.
func Read(ctx context.Context, t admin.Transport, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	var all []fdb.ServedCertificate
	for len(addresses) > 0 {
		some := addresses[:min(atOnce, len(addresses))]
		read, err := readSome(ctx, t, some)
		if err != nil {
			return nil, err
		}
		all, addresses = append(all, read...), addresses[len(some):]
	}
	return all, nil
}

func readSome(ctx context.Context, t admin.Transport, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	argv := []string{"bash", "-c", script, "bash", strconv.Itoa(int(connectLimit.Seconds())), base64.StdEncoding.EncodeToString(firstMessages())}
	for _, a := range addresses {
		if !a.IsIP() || !a.TLS {
			return nil, fmt.Errorf("%s: %q must be an IP address with TLS", reading, a)
		}
		argv = append(argv, a.Host, strconv.Itoa(a.Port))
	}
	r, err := t.Run(ctx, admin.Command{Argv: argv, Limit: runLimit, Reads: true})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", reading, err)
	}
	if r.ExitCode != 0 {
		return nil, fmt.Errorf("%s: the script requires bash: exit code %d", reading, r.ExitCode)
	}
	return parse(string(r.Stdout), addresses)
}

// parse parses the output of the script: a line for each address, and its end.
func parse(stdout string, addresses []fdb.Address) ([]fdb.ServedCertificate, error) {
	if missing := missingLine.FindStringSubmatch(stdout); missing != nil {
		return nil, fmt.Errorf("%s: the container has no %s", reading, missing[1])
	}
	lines := strings.Split(stdout, "\n")
	if n := len(addresses); len(lines) != n+2 || lines[n] != "end" {
		return nil, fmt.Errorf("%s: the output for %s is not complete", reading, phrase.Count(n, "process"))
	}
	var all []fdb.ServedCertificate
	for i, address := range addresses {
		parts := responseLine.FindStringSubmatch(lines[i])
		if parts == nil {
			return nil, fmt.Errorf("%s: unexpected output: %q", reading, redact.Excerpt(lines[i], 100))
		}
		c := fdb.ServedCertificate{}
		response, err := base64.StdEncoding.DecodeString(parts[1])
		if err == nil {
			c, err = certificateIn(response)
		}
		if err != nil {
			c.Unread = err.Error()
		}
		c.Address = address
		all = append(all, c)
	}
	return all, nil
}
