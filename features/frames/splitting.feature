Feature: Frames on a stream of bytes
  TCP may split and join frames at any byte. The broker reads a frame in the same way however it arrives.

  @FRAME-001 @FRAME-015
  Scenario: A frame that arrives byte by byte
    Given the client has opened a connection
    When the client sends a Connect with id "slowly" byte by byte
    Then the client receives a ConnectAck with id "slowly"

  @FRAME-015
  Scenario Outline: A frame that is split after <count> bytes
    Given the publisher has sent the first <count> bytes of a Publish of message "m1" to queue "orders"
    And queue "orders" does not exist
    When the publisher sends the rest
    Then message "m1" is confirmed to the publisher

    Examples: in the length, before and after the flags, in the body, before its last byte
      | count |
      | 1     |
      | 4     |
      | 5     |
      | 12    |
      | 30    |

  @FRAME-016
  Scenario: Several frames in one segment
    Given the publisher is connected
    When the publisher sends in one piece:
      | command | id     | queue  |
      | Publish | m1     | orders |
      | Publish | m2     | orders |
      | Ping    | ping-1 |        |
      | Publish | m3     | orders |
    Then the publisher receives in this order:
      | command    | id     |
      | PublishAck | m1     |
      | PublishAck | m2     |
      | Pong       | ping-1 |
      | PublishAck | m3     |

  @FRAME-003
  Scenario: The largest frame
    Given the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" in a body of exactly 1048576 bytes to queue "orders"
    Then message "m1" is confirmed to the publisher
    And the subscriber receives message "m1"

  @FRAME-028
  Scenario: A frame that is incomplete when its connection ends
    Given the publisher has sent the first 30 bytes of a Publish of message "m1" to queue "orders"
    When the connection of the publisher breaks
    Then queue "orders" does not exist
