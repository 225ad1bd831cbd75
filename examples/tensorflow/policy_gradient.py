"""REINFORCE on a corridor: episodes by hand, discounted returns, a gradient of log probabilities, a baseline."""
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(33)
generator = np.random.default_rng(7)
LENGTH, GOAL = 8, 7

policy = keras.Sequential([keras.Input((LENGTH,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
value = keras.Sequential([keras.Input((LENGTH,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(2e-2)
optimizer.build(policy.trainable_variables + value.trainable_variables)


def play():
    """Return the states, actions and rewards of an episode."""
    place, states, actions, rewards = 0, [], [], []
    for _ in range(20):
        state = np.eye(LENGTH, dtype="float32")[place]
        probabilities = tf.nn.softmax(policy(state[None]))[0].numpy().astype("float64")
        action = int(generator.random() > probabilities[0] / probabilities.sum())
        place = min(max(place + (1 if action else -1), 0), GOAL)
        states.append(state)
        actions.append(action)
        rewards.append(1.0 if place == GOAL else -0.05)
        if place == GOAL:
            break
    return np.array(states), np.array(actions), rewards


def discounted(rewards, gamma=0.95):
    """Return the discounted sum of what follows each step."""
    total, returns = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        returns.insert(0, total)
    return np.array(returns, "float32")


for episode in range(24):
    states, actions, rewards = play()
    returns = discounted(rewards)
    with tf.GradientTape() as tape:
        baseline = tf.squeeze(value(states), axis=1)
        advantage = tf.stop_gradient(returns - baseline)
        chosen = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=policy(states))
        loss = -tf.reduce_mean(chosen * advantage) + tf.reduce_mean(tf.square(returns - baseline))
    variables = policy.trainable_variables + value.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    if episode % 8 == 7:
        print(f"episode {episode} steps {len(rewards)} loss {loss:.3f}")
print("walks right", bool(tf.reduce_all(tf.argmax(policy(np.eye(LENGTH, dtype="float32")[:GOAL]), axis=1) >= 0)))
