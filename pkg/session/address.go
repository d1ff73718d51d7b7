package session

import (
	"net"
	"strconv"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/session/exit"
)

// CheckAddress checks the address in a flag: HOST:PORT with a numeric port, or empty.
func CheckAddress(flag, address string) error {
	if address == "" {
		return nil
	}
	const bits = 16
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, bits)
	}
	if err != nil {
		return exit.Usagef("%s must be HOST:PORT or :PORT with a port up to 65535, not %q", flag, address)
	}
	return nil
}
