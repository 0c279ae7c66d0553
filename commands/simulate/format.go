package simulate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// hoursPerMonth is the length of a month in cloud bills and price calculators.
const hoursPerMonth = 730

// dollars formats USD with a useful number of digits: four digits after the decimal point for amounts below $10, else two.
func dollars(usd float64) string {
	usd = roundDollars(usd) // sums of equal prices should print the same text, independently of the order of addition
	digits := 2
	if math.Abs(usd) < 10 {
		digits = 4
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(usd, 'f', digits, 64), ".")
	return "$" + groupDigits(whole) + "." + fraction
}

// monthly returns the price of a month of 730 hours.
func monthly(usdPerHour float64) string {
	usd := usdPerHour * hoursPerMonth
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(usd, 'f', 2, 64), ".")
	return "$" + groupDigits(whole) + "." + fraction
}

// groupDigits puts a comma before every third digit from the right.
func groupDigits(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// number writes a count with commas.
func number(n int) string { return groupDigits(strconv.Itoa(n)) }

// counted writes a count with its noun: "1 pod", "1,200 pods".
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return number(n) + " " + noun
}

// interval writes two counts as "3" or "3-7".
func interval(low, high int) string {
	if low == high {
		return strconv.Itoa(low)
	}
	return fmt.Sprintf("%d-%d", low, high)
}

// width returns how many columns s takes.
func width(s string) int { return utf8.RuneCountInString(s) }

func padLeft(s string, columns int) string {
	return strings.Repeat(" ", max(0, columns-width(s))) + s
}

// bar draws a fraction between 0 and 1 as a bar. The bar is cells columns wide, plus two for brackets unless c.rich is true.
func (c canvas) bar(share float64, cells int) string {
	share = min(max(share, 0), 1)
	if !c.rich {
		full := int(math.Round(share * float64(cells)))
		return "[" + strings.Repeat("#", full) + strings.Repeat("-", cells-full) + "]"
	}
	eighths := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}
	parts := int(math.Round(share * float64(cells) * 8))
	drawn := strings.Repeat("█", parts/8) + eighths[parts%8]
	return c.paint(barPaint(share), drawn) + c.paint(dim, strings.Repeat("·", cells-width(drawn)))
}

// barPaint returns green if at least 70 % of a node is used, yellow if at least 40 % is used, and red otherwise.
func barPaint(share float64) paint {
	switch {
	case share >= 0.7:
		return green
	case share >= 0.4:
		return yellow
	}
	return red
}

// barWidth returns the number of columns that bar takes.
func (c canvas) barWidth(cells int) int {
	if c.rich {
		return cells
	}
	return cells + 2
}

// percent writes a fraction as "83%".
func percent(share float64) string { return strconv.Itoa(int(math.Round(share*100))) + "%" }

// fit joins items with sep, as many as fit into columns, but at least one. If items are left out, the text ends with the number of these
// items.
func (c canvas) fit(items []string, sep string, columns int) string {
	whole := strings.Join(items, sep)
	if width(whole) <= columns {
		return whole
	}
	shown := ""
	for i, item := range items {
		longer := item
		if i > 0 {
			longer = shown + sep + item
		}
		tail := fmt.Sprintf("%s%s %d more", sep, c.ellipsis(), len(items)-i-1)
		if i > 0 && width(longer)+width(tail) > columns {
			return fmt.Sprintf("%s%s%s %d more", shown, sep, c.ellipsis(), len(items)-i)
		}
		shown = longer
	}
	return shown
}

// wrap breaks text at spaces into lines of at most columns; a longer word gets a separate line.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
