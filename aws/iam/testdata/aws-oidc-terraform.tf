# What drawknife needs in the account for cluster demo.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws", version = ">= 5.40" }
  }
}

variable "create_node_roles" {
  type = bool
  default = true
  description = "Create the roles of the instances."
}

resource "aws_iam_role" "controller" {
  name = "demo-drawknife"
  assume_role_policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "ServiceAccountAssumes",
        "Effect": "Allow",
        "Principal": {
          "Federated": [
            "arn:aws:iam::111122223333:oidc-provider/oidc.example.com/id/1"
          ]
        },
        "Action": [
          "sts:AssumeRoleWithWebIdentity"
        ],
        "Condition": {
          "StringEquals": {
            "oidc.example.com/id/1:aud": [
              "sts.amazonaws.com"
            ],
            "oidc.example.com/id/1:sub": [
              "system:serviceaccount:kube-system:drawknife"
            ]
          }
        }
      }
    ]
  })
}

resource "aws_iam_policy" "nodes" {
  name = "demo-nodes"
  description = "launches, tags and ends the instances of cluster demo"
  policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "UseSharedInputs",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateFleet",
          "ec2:RunInstances"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1::image/*",
          "arn:aws:ec2:eu-central-1::snapshot/*",
          "arn:aws:ec2:eu-central-1:*:security-group/*",
          "arn:aws:ec2:eu-central-1:*:subnet/*",
          "arn:aws:ec2:eu-central-1:*:placement-group/*",
          "arn:aws:ec2:eu-central-1:*:capacity-reservation/*"
        ]
      },
      {
        "Sid": "UseOwnLaunchTemplates",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateFleet",
          "ec2:RunInstances"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:launch-template/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:ResourceTag/kubernetes.io/cluster/demo": [
              "owned"
            ]
          },
          "StringLike": {
            "aws:ResourceTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "CreateTaggedNodes",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateFleet",
          "ec2:RunInstances"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:fleet/*",
          "arn:aws:ec2:eu-central-1:111122223333:instance/*",
          "arn:aws:ec2:eu-central-1:111122223333:volume/*",
          "arn:aws:ec2:eu-central-1:111122223333:network-interface/*",
          "arn:aws:ec2:eu-central-1:111122223333:spot-instances-request/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:RequestTag/kubernetes.io/cluster/demo": [
              "owned"
            ]
          },
          "StringLike": {
            "aws:RequestTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "CreateTaggedLaunchTemplates",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateLaunchTemplate"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:launch-template/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:RequestTag/kubernetes.io/cluster/demo": [
              "owned"
            ]
          },
          "StringLike": {
            "aws:RequestTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "TagAtCreation",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateTags"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:fleet/*",
          "arn:aws:ec2:eu-central-1:111122223333:instance/*",
          "arn:aws:ec2:eu-central-1:111122223333:volume/*",
          "arn:aws:ec2:eu-central-1:111122223333:network-interface/*",
          "arn:aws:ec2:eu-central-1:111122223333:spot-instances-request/*",
          "arn:aws:ec2:eu-central-1:111122223333:launch-template/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:RequestTag/kubernetes.io/cluster/demo": [
              "owned"
            ],
            "ec2:CreateAction": [
              "CreateFleet",
              "CreateLaunchTemplate",
              "RunInstances"
            ]
          },
          "StringLike": {
            "aws:RequestTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "TagNodesLater",
        "Effect": "Allow",
        "Action": [
          "ec2:CreateTags"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:instance/*"
        ],
        "Condition": {
          "ForAllValues:StringEquals": {
            "aws:TagKeys": [
              "Name",
              "eks:eks-cluster-name",
              "karpenter.sh/nodeclaim",
              "drawknife.dev/nodeclaim-uid"
            ]
          },
          "StringEquals": {
            "aws:ResourceTag/kubernetes.io/cluster/demo": [
              "owned"
            ]
          },
          "StringEqualsIfExists": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ]
          },
          "StringLike": {
            "aws:ResourceTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "EndNodesAndLaunchTemplates",
        "Effect": "Allow",
        "Action": [
          "ec2:DeleteLaunchTemplate",
          "ec2:TerminateInstances"
        ],
        "Resource": [
          "arn:aws:ec2:eu-central-1:111122223333:instance/*",
          "arn:aws:ec2:eu-central-1:111122223333:launch-template/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:ResourceTag/kubernetes.io/cluster/demo": [
              "owned"
            ]
          },
          "StringLike": {
            "aws:ResourceTag/karpenter.sh/nodepool": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "PassNodeRoles",
        "Effect": "Allow",
        "Action": [
          "iam:PassRole"
        ],
        "Resource": [
          "arn:aws:iam::111122223333:role/demo-nodes"
        ],
        "Condition": {
          "StringEquals": {
            "iam:PassedToService": [
              "ec2.amazonaws.com"
            ]
          }
        }
      }
    ]
  })
}

resource "aws_iam_role_policy_attachment" "nodes" {
  role = aws_iam_role.controller.name
  policy_arn = aws_iam_policy.nodes.arn
}

resource "aws_iam_policy" "instance_profiles" {
  name = "demo-instance-profiles"
  description = "makes and removes the instance profiles of cluster demo"
  policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "CreateTaggedProfiles",
        "Effect": "Allow",
        "Action": [
          "iam:CreateInstanceProfile"
        ],
        "Resource": [
          "arn:aws:iam::111122223333:instance-profile/karpenter/eu-central-1/demo/*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:RequestTag/kubernetes.io/cluster/demo": [
              "owned"
            ],
            "aws:RequestTag/topology.kubernetes.io/region": [
              "eu-central-1"
            ]
          },
          "StringLike": {
            "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "TagOwnProfiles",
        "Effect": "Allow",
        "Action": [
          "iam:TagInstanceProfile"
        ],
        "Resource": [
          "arn:aws:iam::111122223333:instance-profile/karpenter/eu-central-1/demo/*",
          "arn:aws:iam::111122223333:instance-profile/demo_*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:RequestTag/kubernetes.io/cluster/demo": [
              "owned"
            ],
            "aws:RequestTag/topology.kubernetes.io/region": [
              "eu-central-1"
            ],
            "aws:ResourceTag/eks:eks-cluster-name": [
              "demo"
            ],
            "aws:ResourceTag/kubernetes.io/cluster/demo": [
              "owned"
            ],
            "aws:ResourceTag/topology.kubernetes.io/region": [
              "eu-central-1"
            ]
          },
          "StringLike": {
            "aws:RequestTag/karpenter.k8s.aws/ec2nodeclass": [
              "*"
            ],
            "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "ChangeOwnProfiles",
        "Effect": "Allow",
        "Action": [
          "iam:AddRoleToInstanceProfile",
          "iam:DeleteInstanceProfile",
          "iam:RemoveRoleFromInstanceProfile"
        ],
        "Resource": [
          "arn:aws:iam::111122223333:instance-profile/karpenter/eu-central-1/demo/*",
          "arn:aws:iam::111122223333:instance-profile/demo_*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:ResourceTag/kubernetes.io/cluster/demo": [
              "owned"
            ],
            "aws:ResourceTag/topology.kubernetes.io/region": [
              "eu-central-1"
            ]
          },
          "StringLike": {
            "aws:ResourceTag/karpenter.k8s.aws/ec2nodeclass": [
              "*"
            ]
          }
        }
      },
      {
        "Sid": "ReadProfiles",
        "Effect": "Allow",
        "Action": [
          "iam:GetInstanceProfile"
        ],
        "Resource": [
          "arn:aws:iam::111122223333:instance-profile/karpenter/eu-central-1/demo/*",
          "arn:aws:iam::111122223333:instance-profile/demo_*"
        ]
      },
      {
        "Sid": "ListProfiles",
        "Effect": "Allow",
        "Action": [
          "iam:ListInstanceProfiles"
        ],
        "Resource": [
          "*"
        ]
      }
    ]
  })
}

resource "aws_iam_role_policy_attachment" "instance_profiles" {
  role = aws_iam_role.controller.name
  policy_arn = aws_iam_policy.instance_profiles.arn
}

resource "aws_iam_policy" "discovery" {
  name = "demo-discovery"
  description = "reads which instance types there are for cluster demo"
  policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "ReadRegion",
        "Effect": "Allow",
        "Action": [
          "ec2:DescribeAvailabilityZones",
          "ec2:DescribeCapacityReservations",
          "ec2:DescribeImages",
          "ec2:DescribeInstanceStatus",
          "ec2:DescribeInstanceTypeOfferings",
          "ec2:DescribeInstanceTypes",
          "ec2:DescribeInstances",
          "ec2:DescribeLaunchTemplates",
          "ec2:DescribePlacementGroups",
          "ec2:DescribeSecurityGroups",
          "ec2:DescribeSpotPriceHistory",
          "ec2:DescribeSubnets"
        ],
        "Resource": [
          "*"
        ],
        "Condition": {
          "StringEquals": {
            "aws:RequestedRegion": [
              "eu-central-1"
            ]
          }
        }
      },
      {
        "Sid": "ReadImageParameters",
        "Effect": "Allow",
        "Action": [
          "ssm:GetParameter"
        ],
        "Resource": [
          "arn:aws:ssm:eu-central-1::parameter/aws/service/*"
        ]
      },
      {
        "Sid": "ReadPrices",
        "Effect": "Allow",
        "Action": [
          "pricing:GetProducts"
        ],
        "Resource": [
          "*"
        ]
      },
      {
        "Sid": "ReadCluster",
        "Effect": "Allow",
        "Action": [
          "eks:DescribeCluster"
        ],
        "Resource": [
          "arn:aws:eks:eu-central-1:111122223333:cluster/demo"
        ]
      }
    ]
  })
}

resource "aws_iam_role_policy_attachment" "discovery" {
  role = aws_iam_role.controller.name
  policy_arn = aws_iam_policy.discovery.arn
}

output "controller_role_arn" {
  value = aws_iam_role.controller.arn
}

variable "create_access_entries" {
  type = bool
  default = true
  description = "Let the roles of the instances join the cluster by access entries."
}

resource "aws_iam_role" "node_1" {
  count = var.create_node_roles ? 1 : 0
  name = "demo-nodes"
  path = "/"
  assume_role_policy = jsonencode({
    "Version": "2012-10-17",
    "Statement": [
      {
        "Sid": "EC2Assumes",
        "Effect": "Allow",
        "Principal": {
          "Service": [
            "ec2.amazonaws.com"
          ]
        },
        "Action": [
          "sts:AssumeRole"
        ]
      }
    ]
  })
}

resource "aws_iam_role_policy_attachment" "node_1_amazoneksworkernodepolicy" {
  count = var.create_node_roles ? 1 : 0
  role = aws_iam_role.node_1[0].name
  policy_arn = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
}

resource "aws_iam_role_policy_attachment" "node_1_amazoneks_cni_policy" {
  count = var.create_node_roles ? 1 : 0
  role = aws_iam_role.node_1[0].name
  policy_arn = "arn:aws:iam::aws:policy/AmazonEKS_CNI_Policy"
}

resource "aws_iam_role_policy_attachment" "node_1_amazonec2containerregistrypullonly" {
  count = var.create_node_roles ? 1 : 0
  role = aws_iam_role.node_1[0].name
  policy_arn = "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"
}

resource "aws_iam_role_policy_attachment" "node_1_amazonssmmanagedinstancecore" {
  count = var.create_node_roles ? 1 : 0
  role = aws_iam_role.node_1[0].name
  policy_arn = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
}

resource "aws_eks_access_entry" "node_1" {
  count = var.create_access_entries ? 1 : 0
  cluster_name = "demo"
  type = "EC2_LINUX"
  principal_arn = var.create_node_roles ? aws_iam_role.node_1[0].arn : "arn:aws:iam::111122223333:role/demo-nodes"
}
