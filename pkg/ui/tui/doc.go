// Package tui is the terminal screen of `kubectl fdb watch`. It draws what it is told
// and asks for what keys ask for; it reads nothing and changes nothing by itself.
package tui
