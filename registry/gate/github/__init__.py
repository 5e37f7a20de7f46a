"""What the gate asks GitHub: who proposes, which keys they publish, who approved."""
