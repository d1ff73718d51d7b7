package fdb

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	tlsSuffix          = ":tls"
	fromHostnameSuffix = "(fromHostname)"
)

// UnknownLogAddress is what FoundationDB lists among exclusions in progress for a
// log whose address it no longer has. It may be that of any process, so it counts
// as in progress for every process.
const UnknownLogAddress = "0.0.0.0:0"

// Address is where a FoundationDB process listens.
type Address struct {
	// Host is an IP address without brackets, or a host name.
	Host string
	// Port is 0 only in UnknownLogAddress.
	Port int
	// TLS is FoundationDB's ":tls" flag.
	TLS bool
	// FromHostname is true if the status document resolved a host name to this
	// address.
	FromHostname bool
}

var hostnamePattern = regexp.MustCompile(`^([A-Za-z0-9_-]+\.?)+$`)

// ParseAddress parses "ip:port", "[ip]:port" or "host:port", each with an optional
// ":tls" and "(fromHostname)". Brackets are allowed around IPv4 too, as the unified
// image's command lines have them.
func ParseAddress(text string) (Address, error) {
	rest, fromHostname := strings.CutSuffix(text, fromHostnameSuffix)
	rest, tls := strings.CutSuffix(rest, tlsSuffix)
	colon := strings.LastIndexByte(rest, ':')
	if colon < 0 {
		return Address{}, fmt.Errorf("parse address %q: missing port", text)
	}
	host, err := parseHost(rest[:colon])
	if err != nil {
		return Address{}, fmt.Errorf("parse address %q: %w", text, err)
	}
	port, err := strconv.ParseUint(rest[colon+1:], 10, 16)
	if err != nil {
		return Address{}, fmt.Errorf("parse port of address %q: %w", text, err)
	}
	return Address{Host: host, Port: int(port), TLS: tls, FromHostname: fromHostname}, nil
}

func parseHost(text string) (string, error) {
	inner, bracketed := strings.CutPrefix(text, "[")
	if bracketed {
		var closed bool
		if inner, closed = strings.CutSuffix(inner, "]"); !closed {
			return "", fmt.Errorf("host %q has no closing bracket", text)
		}
	}
	if ip, err := netip.ParseAddr(inner); err == nil && ip.Zone() == "" {
		if ip.Is6() && !bracketed {
			return "", fmt.Errorf("IPv6 host %q requires brackets", text)
		}
		return ip.String(), nil
	}
	if bracketed || !hostnamePattern.MatchString(inner) || looksLikeIPv4(inner) {
		return "", fmt.Errorf("host %q is neither an IP address nor a host name", text)
	}
	return inner, nil
}

// looksLikeIPv4 catches mistyped addresses such as 10.1.2.300, which would
// otherwise be valid host names.
func looksLikeIPv4(host string) bool {
	return strings.Trim(host, "0123456789.") == ""
}

// ParseAddresses parses a comma-separated list such as the value of
// --public_address.
func ParseAddresses(list string) ([]Address, error) {
	var addresses []Address
	for text := range strings.SplitSeq(list, ",") {
		a, err := ParseAddress(text)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, a)
	}
	return addresses, nil
}

// PublicAddresses returns the addresses of --public_address in a command
// line, in its order.
func PublicAddresses(commandLine string) ([]Address, error) {
	const flag = "--public_address="
	for word := range strings.FieldsSeq(commandLine) {
		if list, found := strings.CutPrefix(word, flag); found {
			return ParseAddresses(list)
		}
	}
	return nil, fmt.Errorf("read public address: not found in command line %q", commandLine)
}

// IsZero reports whether the address is absent.
func (a Address) IsZero() bool { return a == Address{} }

// IsIP reports whether the host is an IP address rather than a name.
func (a Address) IsIP() bool {
	_, err := netip.ParseAddr(a.Host)
	return err == nil
}

// HostPort returns the address without flags, as exclude and kill require it.
func (a Address) HostPort() string {
	return a.bracketedHost() + ":" + strconv.Itoa(a.Port)
}

func (a Address) bracketedHost() string {
	if strings.Contains(a.Host, ":") {
		return "[" + a.Host + "]"
	}
	return a.Host
}

// Coordinator returns the address as in a connection string: with ":tls", without
// "(fromHostname)".
func (a Address) Coordinator() string {
	if a.TLS {
		return a.HostPort() + tlsSuffix
	}
	return a.HostPort()
}

// String returns the address with all flags, as in the status document; empty
// for the zero value.
func (a Address) String() string {
	switch {
	case a.IsZero():
		return ""
	case a.FromHostname:
		return a.Coordinator() + fromHostnameSuffix
	default:
		return a.Coordinator()
	}
}

// MarshalText returns String.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText parses the output of String; empty text is the zero address.
func (a *Address) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*a = Address{}
		return nil
	}
	parsed, err := ParseAddress(string(text))
	if err != nil {
		return err
	}
	*a = parsed
	return nil
}

// SameHost reports whether two hosts are the same: IP addresses by value, since IPv6 has
// several notations, and names by their text.
func SameHost(a, b string) bool {
	first, err := netip.ParseAddr(a)
	if err != nil {
		return a == b
	}
	second, err := netip.ParseAddr(b)
	return err == nil && first == second
}

// ConnectionString identifies a database and its coordinators: the content of a
// cluster file. The zero value means none.
type ConnectionString struct {
	// Description is the human-readable half of the name: letters, digits, "_".
	Description string
	// ID is the other half: letters and digits, new after each coordinator change.
	ID string
	// Coordinators keep the order of the text.
	Coordinators []Address
}

var (
	descriptionPattern = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	idPattern          = regexp.MustCompile(`^[A-Za-z0-9]+$`)
)

// ParseConnectionString parses "description:id@coordinator,…". Description and
// ID are mandatory, and coordinators must be unique.
func ParseConnectionString(text string) (ConnectionString, error) {
	name, list, found := strings.Cut(strings.TrimSpace(text), "@")
	if !found {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: missing @", text)
	}
	description, id, found := strings.Cut(name, ":")
	if !found {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: missing : in its name", text)
	}
	coordinators, err := ParseAddresses(list)
	if err != nil {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: %w", text, err)
	}
	s := ConnectionString{Description: description, ID: id, Coordinators: coordinators}
	if err := s.Check(); err != nil {
		return ConnectionString{}, fmt.Errorf("parse connection string %q: %w", text, err)
	}
	return s, nil
}

// ParseClusterFile parses a cluster file: a connection string between blank
// lines and lines that start with "#".
func ParseClusterFile(content string) (ConnectionString, error) {
	var text strings.Builder
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(line, "#")
		text.WriteString(strings.TrimSpace(line))
	}
	return ParseConnectionString(text.String())
}

// Check returns an error unless the connection string is valid.
func (s ConnectionString) Check() error {
	if !descriptionPattern.MatchString(s.Description) {
		return fmt.Errorf("description %q: must be letters, digits and _", s.Description)
	}
	if !idPattern.MatchString(s.ID) {
		return fmt.Errorf("id %q: must be letters and digits", s.ID)
	}
	return checkCoordinators(s.Coordinators)
}

func checkCoordinators(coordinators []Address) error {
	if len(coordinators) == 0 {
		return fmt.Errorf("no coordinators")
	}
	seen := make(map[string]bool, len(coordinators))
	for _, c := range coordinators {
		if c.Port == 0 || c.FromHostname {
			return fmt.Errorf("coordinator %s: must be host:port or host:port:tls", c)
		}
		if seen[c.HostPort()] {
			return fmt.Errorf("coordinator %s: duplicate", c.HostPort())
		}
		seen[c.HostPort()] = true
	}
	return nil
}

// IsZero reports whether the connection string is absent.
func (s ConnectionString) IsZero() bool {
	return s.Description == "" && s.ID == "" && len(s.Coordinators) == 0
}

// String returns the content of a cluster file; empty for the zero value.
func (s ConnectionString) String() string {
	if s.IsZero() {
		return ""
	}
	coordinators := make([]string, len(s.Coordinators))
	for i, c := range s.Coordinators {
		coordinators[i] = c.Coordinator()
	}
	return s.Description + ":" + s.ID + "@" + strings.Join(coordinators, ",")
}

// SameCoordinators reports whether both have the same set of coordinators.
// FoundationDB lists them in different orders in different places.
func (s ConnectionString) SameCoordinators(coordinators []Address) bool {
	return slices.Equal(coordinatorTexts(s.Coordinators), coordinatorTexts(coordinators))
}

func coordinatorTexts(coordinators []Address) []string {
	texts := make([]string, len(coordinators))
	for i, c := range coordinators {
		texts[i] = c.Coordinator()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}
