package rules

import (
	"go/ast"
	"go/token"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SentenceKind says where a sentence occurs, for example in a document. The kind determines who reads the sentence.
type SentenceKind string

const (
	DocComment     SentenceKind = "doc comment"   // of exported names; readers: users of the packages
	InnerComment   SentenceKind = "inner comment" // all other comments outside tests; readers: people who change the code
	DocumentText   SentenceKind = "document"      // Markdown, without tables and code
	LogMessage     SentenceKind = "log"           // operators
	ErrorMessage   SentenceKind = "error"         // users and operators
	CommandHelp    SentenceKind = "help"          // package comments of commands, which --help prints, and usages of settings
	shortestWords               = 3               // shorter sentences, such as "See Plan.", are not worth a grade
	sentenceSource              = 0x64726177      // the second half of the generator's seed
)

// Sentence is a piece of text that a reader can grade as clear or not.
type Sentence struct {
	Kind SentenceKind
	// Where is the file. For Go source, it includes the line of the comment or statement.
	Where string
	Text  string
}

// Sentences collects the sentences that people read: the comments, log messages, errors and help of all Go files except tests, and the text
// of the documents. The keys of documents are file names. Sentences of the tree come first, in the order of its files. Sentences of the
// documents follow, sorted by file name.
func Sentences(t *Tree, documents map[string]string) []Sentence {
	var all []Sentence
	for _, f := range t.Files {
		if f.Test || f.Generated {
			continue
		}
		all = append(all, commentSentences(t, f)...)
		all = append(all, messageSentences(t, f)...)
	}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		for _, s := range prose(documents[name]) {
			all = append(all, Sentence{DocumentText, name, s})
		}
	}
	return all
}

// DrawSentences draws count sentences at random, each at most once. It returns the same sentences for equal arguments. It takes one
// sentence of each kind in turn, so that the few log messages are read as thoroughly as the many comments. A kind is skipped after all of
// its sentences have been drawn.
func DrawSentences(all []Sentence, count int, seed uint64) []Sentence {
	random := rand.New(rand.NewPCG(seed, sentenceSource))
	byKind := make(map[SentenceKind][]Sentence)
	for _, s := range all {
		byKind[s.Kind] = append(byKind[s.Kind], s)
	}
	kinds := slices.Sorted(maps.Keys(byKind))
	var drawn []Sentence
	for len(drawn) < min(count, len(all)) {
		for _, kind := range kinds {
			left := byKind[kind]
			if len(left) == 0 || len(drawn) == count {
				continue
			}
			i := random.IntN(len(left))
			drawn = append(drawn, left[i])
			left[i] = left[len(left)-1]
			byKind[kind] = left[:len(left)-1]
		}
	}
	return drawn
}

// commentSentences returns the sentences of a file's comments, with their kinds. The kinds are doc comments of exported names, help of
// commands (their package comments), and inner comments.
func commentSentences(t *Tree, f *File) []Sentence {
	exported := exportedDocs(f.Syntax)
	var all []Sentence
	for _, group := range f.Syntax.Comments {
		kind := InnerComment
		switch {
		case f.command() && group == f.Syntax.Doc:
			kind = CommandHelp
		case exported[group]:
			kind = DocComment
		}
		for _, s := range prose(group.Text()) {
			all = append(all, Sentence{kind, t.at(group), s})
		}
	}
	return all
}

// exportedDocs returns the doc comments of the file. The value of a comment is true if users of the package can read the comment.
func exportedDocs(syntax *ast.File) map[*ast.CommentGroup]bool {
	docs := map[*ast.CommentGroup]bool{syntax.Doc: true}
	ast.Inspect(syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			_, exported := funcName(n)
			docs[n.Doc] = exported
			return false
		case *ast.GenDecl:
			docs[n.Doc] = true
		case *ast.TypeSpec:
			docs[n.Doc] = n.Name.IsExported()
			return n.Name.IsExported()
		case *ast.ValueSpec:
			docs[n.Doc], docs[n.Comment] = n.Names[0].IsExported(), n.Names[0].IsExported()
		case *ast.Field:
			exported := len(n.Names) > 0 && n.Names[0].IsExported()
			docs[n.Doc], docs[n.Comment] = exported, exported
		}
		return true
	})
	for _, d := range syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && len(g.Specs) == 1 {
			switch s := g.Specs[0].(type) {
			case *ast.TypeSpec:
				docs[g.Doc] = s.Name.IsExported()
			case *ast.ValueSpec:
				docs[g.Doc] = s.Names[0].IsExported()
			}
		}
	}
	return docs
}

// messageSentences returns the log messages, constant texts of errors, and usage texts of settings in a file.
func messageSentences(t *Tree, f *File) []Sentence {
	var all []Sentence
	add := func(kind SentenceKind, at ast.Node, e ast.Expr) {
		if text, ok := literal(e); ok && len(strings.Fields(text)) >= shortestWords {
			all = append(all, Sentence{kind, t.at(at), text})
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if at, ok := messageOf(n); ok {
				add(LogMessage, n, n.Args[at])
			} else if makesError(n) {
				add(ErrorMessage, n, n.Args[0])
			} else if at, ok := usageOf(n); ok {
				add(CommandHelp, n, n.Args[at])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Rule" {
				add(ErrorMessage, n, n.Value)
			}
		}
		return true
	})
	return all
}

// literal returns the text of a string literal, or false for other expressions.
func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// makesError reports whether the call is of errors.New or fmt.Errorf.
func makesError(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	p, ok := f.X.(*ast.Ident)
	return ok && (p.Name == "fmt" && f.Sel.Name == "Errorf" || p.Name == "errors" && f.Sel.Name == "New")
}

// usageOf returns the index of the usage text in the arguments of the call define(name, field, kind, at, usage). It returns false for calls
// of other functions.
func usageOf(call *ast.CallExpr) (int, bool) {
	f, ok := call.Fun.(*ast.Ident)
	return 4, ok && f.Name == "define" && len(call.Args) > 4
}

// prose returns the sentences of a text. It leaves out code blocks, tables, headings, and comments for tools such as +optional.
func prose(text string) []string {
	var all []string
	var paragraph []string
	item := false // the paragraph is an item of a list
	end := func() {
		all = append(all, sentencesOf(strings.Join(paragraph, " "))...)
		paragraph, item = nil, false
	}
	fenced := false
	for _, line := range lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			end()
		case fenced:
		case trimmed == "", strings.HasPrefix(trimmed, "#"), strings.HasPrefix(trimmed, "|"), strings.HasPrefix(trimmed, "<"),
			strings.HasPrefix(trimmed, "+"), strings.HasPrefix(line, "\t"):
			end()
		case strings.HasPrefix(line, "    ") && !item: // an indented line is code, but in an item it continues the item
			end()
		default:
			if listItem().MatchString(trimmed) {
				end()
				item = true
			}
			paragraph = append(paragraph, trimmed)
		}
	}
	end()
	return all
}

func listItem() *regexp.Regexp { return regexp.MustCompile(`^([-*]|[0-9]+\.) `) }

// sentencesOf cuts a paragraph after a full stop, question mark or exclamation mark that a capital letter follows.
func sentencesOf(paragraph string) []string {
	var all []string
	from := 0
	keep := func(to int) {
		if s := strings.TrimSpace(paragraph[from:to]); len(strings.Fields(s)) > shortestWords {
			all = append(all, s)
		}
		from = to
	}
	for i, r := range paragraph {
		if (r == '.' || r == '?' || r == '!') && strings.HasPrefix(paragraph[i+1:], " ") {
			if next, _ := utf8.DecodeRuneInString(strings.TrimLeft(paragraph[i+1:], " (`[*\"")); unicode.IsUpper(next) || next == utf8.RuneError {
				keep(i + 1)
			}
		}
	}
	keep(len(paragraph))
	return all
}
