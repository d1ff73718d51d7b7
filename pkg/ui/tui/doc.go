// Package tui is the dashboard of `kubectl fdb watch`. It draws the entries that it receives
// and requests the actions that keys stand for; it reads and changes nothing itself.
package tui
