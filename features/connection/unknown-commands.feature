Feature: Commands that the broker does not support
  The broker refuses a command that is unknown or that only a broker sends, and keeps the connection open.

  @CONN-026 @CONN-028 @CONN-008
  Scenario Outline: The command number <number> is unknown
    Given the client is connected
    When the client sends the command number <number> with id "what?"
    Then the client receives Error UNKNOWN_COMMAND with id "what?"
    And the connection of the client stays open

    Examples:
      | number |
      | 3      |
      | 44     |
      | 98     |
      | 255    |

  @CONN-027 @CONN-028
  Scenario Outline: <command> is sent by brokers only
    Given the client is connected
    When the client sends a <command> with id "m1" for queue "orders"
    Then the client receives Error UNKNOWN_COMMAND with id "m1"
    And the connection of the client stays open

    Examples:
      | command        |
      | ConnectAck     |
      | Pong           |
      | PublishAck     |
      | SubscribeAck   |
      | UnsubscribeAck |
      | Deliver        |
