package conversion

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/drawknife/drawknife/internal/quantities"
)

// stored contains the quantities of an object that are out of bounds: too long, or with an exponent so large that parsing takes minutes.
// Older CRDs allow such quantities. A conversion keeps them unchanged: an object that can't be converted would prevent the API server from
// listing all others.
type stored struct {
	// mark is the prefix of the numbers that replace the quantities in the object. mark occurs nowhere else in the object. Each number
	// consists of mark, an index and a 1.
	mark string
	// texts are the original quantities, in their order in the object.
	texts []string
}

// A stand-in is a mark of eight digits, an index of nine digits and a 1. So no stand-in is a multiple of 1,000, which would get a suffix,
// and all stand-ins fit into 64 bits.
const (
	markLength   = 8
	firstMark    = 81_000_000
	numberLength = 9
	standInEnd   = '1'
)

// setAside returns the object with a number in place of each quantity that is out of bounds. Values that no CRD allows are not replaced;
// they are refused later. Its time is linear in the size of the object.
func setAside(object []byte, of reflect.Type) ([]byte, stored) {
	var s stored
	found := quantities.FindAll(object, of)
	if len(found) == 0 {
		return object, s
	}
	s.mark = unusedMark(object)
	var out []byte
	from := 0
	for _, f := range found {
		text := strings.Trim(string(object[f.Start:f.End]), `"`)
		if strings.Trim(text, "0123456789+-.eE") != "" {
			continue
		}
		out = append(out, object[from:f.Start]...)
		out = fmt.Appendf(out, `"%s%0*d%c"`, s.mark, numberLength, len(s.texts), standInEnd)
		s.texts = append(s.texts, text)
		from = f.End
	}
	return append(out, object[from:]...), s
}

// unusedMark returns a mark that does not occur in the object. Such a mark always exists, because there are more marks than an object has
// digits.
func unusedMark(object []byte) string {
	used := make(map[string]bool)
	for i := range len(object) - markLength + 1 {
		if part := object[i : i+markLength]; part[0] == '8' && digitsAlone(part) {
			used[string(part)] = true
		}
	}
	next := firstMark
	for used[strconv.Itoa(next)] {
		next++
	}
	return strconv.Itoa(next)
}

func digitsAlone(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// putBack returns the object with the original quantities restored.
func (s stored) putBack(object []byte) []byte {
	if len(s.texts) == 0 {
		return object
	}
	var out []byte
	for {
		before, after, found := bytes.Cut(object, []byte(s.mark))
		out = append(out, before...)
		if !found {
			return out
		}
		text, length := s.standsFor(after)
		out = append(out, text...)
		object = after[length:]
	}
}

// standsFor returns the quantity that the stand-in at the start of the text "after" replaces, and the length of the stand-in.
func (s stored) standsFor(after []byte) (text string, length int) {
	if len(after) <= numberLength || after[numberLength] != standInEnd || !digitsAlone(after[:numberLength]) {
		return s.mark, 0
	}
	number, err := strconv.Atoi(string(after[:numberLength]))
	if err != nil || number >= len(s.texts) {
		return s.mark, 0
	}
	return s.texts[number], numberLength + 1
}
