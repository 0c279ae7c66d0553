package launchtemplate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	v1 "github.com/drawknife/drawknife/api/v1"
	awsv1 "github.com/drawknife/drawknife/aws/api/v1"
	"github.com/drawknife/drawknife/internal/quantities"
)

// maxInput limits the size of one input.
const maxInput = 16 << 20

// objects are the objects in the inputs.
type objects struct {
	classes []*awsv1.EC2NodeClass
	pools   []*v1.NodePool
	// others counts objects of other kinds.
	others int
}

func readInputs(names []string, stdin io.Reader) (objects, error) {
	var all objects
	for _, name := range names {
		text, err := readInput(name, stdin)
		if err != nil {
			return objects{}, err
		}
		reader := yamlreader.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
		for n := 1; ; n++ {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = all.add(document, false)
			}
			if err != nil {
				return objects{}, fmt.Errorf("%s, document %d: %w", name, n, err)
			}
		}
	}
	return all, nil
}

func readInput(name string, stdin io.Reader) ([]byte, error) {
	from := stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxInput+1))
	if err == nil && len(text) > maxInput {
		err = fmt.Errorf("has more than %d bytes", maxInput)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return text, nil
}

// add reads one document: an object, or a list of objects as kubectl prints it. Unknown fields are refused: a misspelled field would have
// no effect, and nobody would notice. A List must not contain a List.
func (all *objects) add(document []byte, inList bool) error {
	var kind struct {
		metav1.TypeMeta `json:",inline"`
		Items           []runtime.RawExtension `json:"items"`
	}
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return err
	}
	switch {
	case kind.Kind == "" && kind.APIVersion == "":
		return nil // the document has only comments
	case kind.Kind == "List" && inList:
		return errors.New("a List in a List: write all items in one List")
	case kind.Kind == "List":
		for i, item := range kind.Items {
			if err := all.add(item.Raw, true); err != nil {
				return fmt.Errorf("items[%d]: %w", i, err)
			}
		}
	case kind.Kind == "EC2NodeClass" && kind.APIVersion == awsv1.APIVersion:
		class := &awsv1.EC2NodeClass{}
		if err := decode(document, class); err != nil {
			return fmt.Errorf("EC2NodeClass: %w", err)
		}
		class.Default()
		if errs := class.Validate(); len(errs) > 0 {
			return fmt.Errorf("EC2NodeClass %q: %w", class.Name, sentences(errs))
		}
		all.classes = append(all.classes, class)
	case kind.Kind == "NodePool" && kind.APIVersion == v1.APIVersion:
		pool := &v1.NodePool{}
		if err := decode(document, pool); err != nil {
			return fmt.Errorf("NodePool: %w", err)
		}
		pool.Default()
		if errs := pool.Validate(); len(errs) > 0 {
			return fmt.Errorf("NodePool %q: %w", pool.Name, sentences(errs))
		}
		all.pools = append(all.pools, pool)
	case kind.Kind == "EC2NodeClass" || kind.Kind == "NodePool":
		return fmt.Errorf("%s of %s: only v1 is read; convert it first, with \"drawknife convert\"", kind.Kind, kind.APIVersion)
	default:
		all.others++
	}
	return nil
}

// decode reads an object as strictly as the API server: field names must have the exact case, and unknown and repeated fields are errors.
func decode(document []byte, object any) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	if err := quantities.CheckJSON(text, reflect.TypeOf(object)); err != nil {
		return err
	}
	strict, err := kjson.UnmarshalStrict(text, object)
	if err != nil {
		return err
	}
	return errors.Join(strict...)
}

// sentences returns an error whose message has each fault on a separate line.
func sentences(errs field.ErrorList) error {
	lines := make([]string, 0, len(errs))
	for _, e := range errs {
		lines = append(lines, "\n  "+e.Error())
	}
	return errors.New(strings.TrimPrefix(strings.Join(lines, ""), "\n  "))
}

// choose returns the object with the name or, if name is empty, the only object.
func choose[T metav1.Object](kind, flag, name string, list []T) (T, error) {
	var none T
	var names []string
	for _, object := range list {
		if object.GetName() == name || name == "" && len(list) == 1 {
			return object, nil
		}
		names = append(names, object.GetName())
	}
	switch {
	case len(list) == 0:
		return none, fmt.Errorf("the inputs have no %s: give a file with one, or - with the output of \"kubectl get %s -o yaml\" on standard input", kind, strings.ToLower(kind))
	case name == "":
		return none, fmt.Errorf("the inputs have the %ss %s: choose one with --%s", kind, strings.Join(names, ", "), flag)
	}
	return none, fmt.Errorf("--%s %q: the inputs have only %s", flag, name, strings.Join(names, ", "))
}
