// Package schema describes Go types as JSON Schema 2020-12. It reads types and nothing
// else: no document, no file, no clock.
package schema
