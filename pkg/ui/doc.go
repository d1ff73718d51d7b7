// Package ui renders events and snapshots as lines, tables and documents. Everything is
// printed from a tagged struct, so text and JSON cannot differ. It has no access to clients,
// clocks or flags.
package ui
