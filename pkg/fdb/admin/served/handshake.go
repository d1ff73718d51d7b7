package served

import (
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
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
