package iam

// Setup contains everything that a cluster needs in IAM, SQS and EventBridge. Equal settings give equal JSON.
type Setup struct {
	// ControllerPolicies are for the controller's role: at most MaxPoliciesPerRole.
	ControllerPolicies []Policy `json:"controllerPolicies"`
	// ControllerTrust is the trust policy of the controller's role: the controller's service account may assume it.
	ControllerTrust Document `json:"controllerTrust"`
	// NodeRole contains the policies that the roles of the instances need.
	NodeRole NodeRole `json:"nodeRole"`
	// Queue of interruption events; nil without Settings.Queue.
	Queue *Queue `json:"queue,omitempty"`
	// Rules that send events to it; nil without Settings.Queue.
	Rules []Rule `json:"rules,omitempty"`
}

// NodeRole contains the policies that a role needs so that its instances can join the cluster and work.
type NodeRole struct {
	// Trust is the role's trust policy: EC2 may assume it.
	Trust Document `json:"trust"`
	// ManagedPolicies are the ARNs of AWS's policies to attach to it.
	ManagedPolicies []string `json:"managedPolicies"`
	// Mappings allow instances with the roles to join a cluster that lists its users in the ConfigMap aws-auth: one for each of
	// Settings.NodeRoles, in the order of their ARNs. Clusters with access entries need an access entry of type EC2_LINUX instead.
	Mappings []Mapping `json:"mappings"`
}

// Generate makes the documents for the settings. Errors are of types *SettingError, one for each invalid setting, and *LimitError. It is a
// pure function, safe for concurrent use.
func Generate(settings Settings) (Setup, error) {
	a, err := check(settings)
	if err != nil {
		return Setup{}, err
	}
	out := Setup{ControllerTrust: controllerTrust(a)}
	if out.ControllerPolicies, err = policies(a); err != nil {
		return Setup{}, err
	}
	out.NodeRole.Trust = document(Statement{
		Sid: "EC2Assumes", Effect: Allow, Principal: &Principal{Service: []string{a.ec2()}}, Action: []string{"sts:AssumeRole"},
	})
	for _, name := range []string{
		"AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore",
	} {
		out.NodeRole.ManagedPolicies = append(out.NodeRole.ManagedPolicies, "arn:"+a.Partition+":iam::aws:policy/"+name)
	}
	for _, role := range a.roles {
		out.NodeRole.Mappings = append(out.NodeRole.Mappings, mapping(role))
	}
	if a.Queue != "" {
		out.Rules = rules(a)
		out.Queue = queue(a, out.Rules)
	}
	return out, nil
}

// File is a document for AWS's command line or another tool.
type File struct {
	// Name of the file.
	Name string
	// Data is JSON, indented.
	Data []byte
}

// Files returns the setup as files that AWS's command line accepts (iam create-policy, iam create-role, sqs create-queue and events
// put-rule): one for each policy, the trust policies of both roles, the mappings of the instances' roles, the attributes of the queue, and
// the pattern of each rule. The mappings are for the key mapRoles of the ConfigMap aws-auth, which is YAML; JSON is valid there. A policy
// has the name of its file. A rule has the name of its file without "rule-". The caller may change the list.
func (s Setup) Files() []File {
	var out []File
	add := func(name string, value any) { out = append(out, File{Name: name + ".json", Data: encode(value, true)}) }
	for _, p := range s.ControllerPolicies {
		add(p.Name, p.Document)
	}
	add("controller-role-trust", s.ControllerTrust)
	add("node-role-trust", s.NodeRole.Trust)
	add("node-role-mappings", s.NodeRole.Mappings)
	if s.Queue != nil {
		add("queue-attributes", s.Queue.Attributes())
	}
	for _, r := range s.Rules {
		add("rule-"+r.Name, r.Pattern)
	}
	return out
}
