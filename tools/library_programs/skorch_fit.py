"""skorch with device="cuda": fit, predict, a grid search, pickles between devices."""

import os
import pickle

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EpochScoring, LRScheduler
from torch import nn

device = os.environ["PROGRAM_DEVICE"]


class Net(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 3), nn.Softmax(-1))

    def forward(self, x):
        return self.net(x)


random = np.random.default_rng(0)
x = random.normal(size=(48, 8)).astype(np.float32)
y = x[:, :3].argmax(1)
torch.manual_seed(0)
net = NeuralNetClassifier(
    Net, max_epochs=3, lr=0.1, device=device, batch_size=16, optimizer=torch.optim.Adam, iterator_train__shuffle=True,
    callbacks=[LRScheduler("StepLR", step_size=1), EpochScoring("roc_auc_ovr", lower_is_better=False)],
)  # fmt: skip
net.fit(x, y)
assert next(net.module_.parameters()).device.type == device
for row in net.history:
    print(f"loss {row['train_loss']:.6f} valid loss {row['valid_loss']:.6f}")
print(f"loss {np.abs(net.predict_proba(x)).std():.5f} {net.score(x, y)}")
again = pickle.loads(pickle.dumps(net))
assert np.allclose(again.predict_proba(x), net.predict_proba(x))
net.save_params(f_params="net.pt", f_optimizer="optimizer.pt")
net.initialize().load_params(f_params="net.pt", f_optimizer="optimizer.pt")
torch.manual_seed(0)
search = GridSearchCV(NeuralNetClassifier(Net, max_epochs=1, device=device, verbose=0), {"module__hidden": [4, 8]}, cv=2)
print(f"loss {search.fit(x, y).best_score_:.5f}")
torch.manual_seed(0)
wide = NeuralNetRegressor(nn.Linear(8, 1), max_epochs=2, device=device, lr=0.05).fit(x, x[:, :1])
print(f"loss {wide.history[-1]['train_loss']:.6f}")
