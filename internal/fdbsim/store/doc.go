// Package store holds backups: containers at URLs, and the blob stores that can be
// reached.
package store
