//go:build !fdb_native || !cgo

package admin

// NativeAvailable is whether this build has the native transport.
const NativeAvailable = false

// OpenNative fails with ErrNoNative: this build does not contain FoundationDB's client
// library.
func OpenNative(string) (*LibraryClient, error) { return nil, ErrNoNative }
