// Package served reads the certificates that processes serve. A connection from a pod of the cluster sends the first
// message of a TLS handshake, to which a server responds with its certificate before it requires one of the
// client: neither a key nor a TLS program is needed in the pod, and the handshake is never completed.
package served

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb/admin"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/redact"
)

// Numbers of TLS 1.2 (RFC 5246).
const (
	tls12 = 0x0303

	recordAlert     = 21
	recordHandshake = 22

	messageHello       = 1
	messageCertificate = 11

	alertFatal              = 2
	alertCertificateUnknown = 46
)

var (
	cipherSuites = []uint16{0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc009, 0xc013, 0xc00a, 0xc014, 0x009c, 0x009d, 0x002f, 0x0035}
	curves       = []uint16{0x001d, 0x0017, 0x0018}
	signatures   = []uint16{0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601}
)

// firstMessages are a ClientHello of TLS 1.2, whose certificates are not encrypted, and the alert with which the client ends
// the connection: the server responds to the first before it reads the second. Nothing in it is secret or random, since
// no keys are agreed on.
func firstMessages() []byte {
	body := binary.BigEndian.AppendUint16(nil, tls12)
	body = append(body, make([]byte, 32)...) // random
	body = append(body, 0)                   // no session
	body = append(body, list(cipherSuites)...)
	body = append(body, 1, 0) // no compression
	extensions := slices.Concat(
		extension(10, list(curves)), extension(11, []byte{1, 0}), extension(13, list(signatures)),
		extension(23, nil), extension(0xff01, []byte{0}), // extended master secret, renegotiation
	)
	body = appendSized(body, extensions)
	return append(record(recordHandshake, appendSized([]byte{messageHello, 0}, body)), // a length of 24 bits
		record(recordAlert, []byte{alertFatal, alertCertificateUnknown})...)
}

// appendSized appends the length of content in 16 bits, and content.
func appendSized(b, content []byte) []byte {
	size := len(content)
	if size > math.MaxUint16 {
		panic("the messages of the client have constant sizes")
	}
	return append(binary.BigEndian.AppendUint16(b, uint16(size)), content...)
}

func list(numbers []uint16) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint16(b, n)
	}
	return appendSized(nil, b)
}

func extension(kind uint16, content []byte) []byte {
	return appendSized(binary.BigEndian.AppendUint16(nil, kind), content)
}

func record(kind byte, content []byte) []byte {
	return appendSized(binary.BigEndian.AppendUint16([]byte{kind}, tls12), content)
}

// certificateIn returns the server's own certificate in its response, which is the first of its chain.
func certificateIn(response []byte) (fdb.ServedCertificate, error) {
	if len(response) == 0 {
		return fdb.ServedCertificate{}, errors.New("no response to a TLS handshake")
	}
	messages, alert := handshakes(response)
	for len(messages) >= 4 {
		kind, size := messages[0], length24(messages[1:])
		if len(messages) < 4+size {
			break
		}
		if kind == messageCertificate {
			return firstOf(messages[4 : 4+size])
		}
		messages = messages[4+size:]
	}
	if alert >= 0 {
		return fdb.ServedCertificate{}, fmt.Errorf("the process refuses a TLS 1.2 handshake with alert %d", alert)
	}
	return fdb.ServedCertificate{}, errors.New("the response to a TLS handshake has no certificate")
}

// handshakes returns the handshake messages of all records until one of another kind, and the number of the server's
// alert; -1 for none.
func handshakes(response []byte) (messages []byte, alert int) {
	for len(response) >= 5 {
		kind, size := response[0], int(binary.BigEndian.Uint16(response[3:]))
		if len(response) < 5+size {
			break
		}
		content := response[5 : 5+size]
		response = response[5+size:]
		switch {
		case kind == recordHandshake:
			messages = append(messages, content...)
		case kind == recordAlert && size == 2:
			return messages, int(content[1])
		default:
			return messages, -1
		}
	}
	return messages, -1
}

func length24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// firstOf parses the first certificate of a chain: a list with its length, of certificates with theirs.
func firstOf(chain []byte) (fdb.ServedCertificate, error) {
	if len(chain) < 6 || len(chain) < 6+length24(chain[3:]) {
		return fdb.ServedCertificate{}, errors.New("the process serves an empty chain of certificates")
	}
	raw := chain[6 : 6+length24(chain[3:])]
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		return fdb.ServedCertificate{}, fmt.Errorf("parse the served certificate: %w", err)
	}
	return fdb.ServedCertificate{Fingerprint: fdb.Fingerprint(raw), NotBefore: certificate.NotBefore, NotAfter: certificate.NotAfter}, nil
}

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
