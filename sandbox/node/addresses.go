package node

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// addresses hands out pod addresses below one /16 of the loopback network.
type addresses struct {
	mu      sync.Mutex
	network [2]byte
	byPod   map[types.UID]netip.Addr
	taken   map[netip.Addr]bool
}

func newAddresses(network netip.Prefix) *addresses {
	a := network.Addr().As4()
	return &addresses{network: [2]byte{a[0], a[1]}, byPod: map[types.UID]netip.Addr{}, taken: map[netip.Addr]bool{}}
}

// keep remembers the address a pod already has.
func (a *addresses) keep(pod types.UID, text string) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return // it has none yet
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.byPod[pod]; !known && !a.taken[address] {
		a.byPod[pod], a.taken[address] = address, true
	}
}

// of is the pod's address; the first call chooses it.
func (a *addresses) of(pod types.UID) (netip.Addr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if address, ok := a.byPod[pod]; ok {
		return address, nil
	}
	for high := byte(1); high < 255; high++ {
		for low := byte(1); low < 255; low++ {
			address := netip.AddrFrom4([4]byte{a.network[0], a.network[1], high, low})
			if !a.taken[address] {
				a.byPod[pod], a.taken[address] = address, true
				return address, nil
			}
		}
	}
	return netip.Addr{}, errors.New("no pod address is left")
}

func (a *addresses) free(pod types.UID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.taken, a.byPod[pod])
	delete(a.byPod, pod)
}

// ParseNetwork reads a pod network, which must be a /16 of the loopback network.
func ParseNetwork(text string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("read pod network: %w", err)
	}
	if p.Bits() != 16 || !p.Addr().Is4() || !p.Addr().IsLoopback() || p != p.Masked() {
		return p, fmt.Errorf("pod network %s is not a /16 of 127.0.0.0/8", text)
	}
	return p, nil
}
