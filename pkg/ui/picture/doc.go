// Package picture draws screens of a terminal, with their colors, as files that are shown elsewhere: SVG, HTML and asciicast.
package picture
