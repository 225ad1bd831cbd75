"""L-BFGS with a line search: Rosenbrock's valley, then a small regression with a closure."""
import torch

point = torch.tensor([-1.5, 2.0], dtype=torch.double, requires_grad=True)
optimizer = torch.optim.LBFGS([point], lr=1, max_iter=8, history_size=10, line_search_fn="strong_wolfe")
for step in range(6):
    def closure():
        optimizer.zero_grad()
        loss = (1 - point[0]) ** 2 + 100 * (point[1] - point[0] ** 2) ** 2
        loss.backward()
        return loss
    loss = optimizer.step(closure)
    print(f"step {step} loss {loss.item():.8f}")
print("minimum near", [round(value, 3) for value in point.tolist()])

torch.manual_seed(0)
x = torch.linspace(-2, 2, 50).unsqueeze(1)
y = x.sin() + 0.05 * torch.randn(50, 1)
model = torch.nn.Sequential(torch.nn.Linear(1, 10), torch.nn.Tanh(), torch.nn.Linear(10, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
for step in range(5):
    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss
    print(f"step {step} loss {optimizer.step(closure).item():.5f}")
