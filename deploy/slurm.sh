#!/bin/sh
# A batch script for Slurm: two nodes with two ranks each.
#
#   sbatch slurm.sh ./program arguments
#
# weft run takes the nodes and the tasks on each from the job. It has srun start an agent on
# each node, as a step of the job: what the ranks use is counted as the job's and bounded
# by its limits. docs/launch.md explains it.
#SBATCH --job-name=weft
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --output=%x-%j.out
exec "${WEFT:-weft}" run -l "$@"
