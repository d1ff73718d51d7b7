// Package ui turns events and snapshots into something to look at: lines, tables
// and documents. Everything it prints it prints from a tagged struct, so text and
// JSON cannot say different things. It never sees a client, a clock or a flag.
package ui
