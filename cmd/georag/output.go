package main

import (
	"io"
	"regexp"
)

// output remembers that something could not be written: what is lost on a full disk must not pass for done.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// places are the packages that errors name for those who read the source.
var places = regexp.MustCompile(`(^|: |; )((core|adapters|internal)(/[a-z]+)*: )+`)

// plain is an error's or a reason's text for those who use the command.
func plain(text string) string { return places.ReplaceAllString(text, "$1") }
