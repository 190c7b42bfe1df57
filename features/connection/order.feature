Feature: Order on one connection
  The broker carries out the frames of a connection in the order in which they were sent, and answers them in that order.
  A client need not wait for one answer before it sends the next command.

  @CONN-032 @CONN-035 @FRAME-016
  Scenario: Commands may follow a Connect without waiting for its answer
    Given the client has opened a connection
    When the client sends in one piece:
      | command     | id     | queue  |
      | Connect     | hello  |        |
      | CreateQueue | create | orders |
      | Publish     | m1     | orders |
      | Ping        | ping   |        |
    Then the client receives in this order:
      | command     | id     |
      | ConnectAck  | hello  |
      | CreateQueue | create |
      | PublishAck  | m1     |
      | Pong        | ping   |

  @CONN-031 @CONN-035
  Scenario: Commands take effect one after the other
    Given the client is connected
    When the client sends in one piece:
      | command     | id       | queue  |
      | CreateQueue | create   | orders |
      | Publish     | m1       | orders |
      | DeleteQueue | delete   | orders |
      | QueueInfo   | info     | orders |
    Then the client receives in this order:
      | command     | id     |
      | CreateQueue | create |
      | PublishAck  | m1     |
      | DeleteQueue | delete |
      | QueueInfo   | info   |
    And queue "orders" does not exist

  @CONN-033 @DELIVERY-010
  Scenario: SubscribeAck comes before the first message
    Given the publisher publishes messages "m1, m2" to queue "orders"
    And the subscriber is connected
    When the subscriber sends a Subscribe with id "sub" for queue "orders"
    Then the subscriber receives in this order:
      | command      | id  |
      | SubscribeAck | sub |
      | Deliver      | m1  |
      | Deliver      | m2  |

  @CONN-034 @DELIVERY-061
  Scenario: The last message comes before UnsubscribeAck
    Given the publisher publishes messages "m1, m2" to queue "orders"
    And the subscriber is connected
    When the subscriber sends in one piece:
      | command     | id    | queue  |
      | Subscribe   | sub   | orders |
      | Unsubscribe | unsub | orders |
      | Publish     | m3    | orders |
    Then after the UnsubscribeAck the subscriber receives no message of queue "orders"

  @CONN-035 @CONN-008
  Scenario: An Error takes the place of the answer
    Given the client is connected
    When the client sends in one piece:
      | command     | id     | queue  |
      | CreateQueue | create | orders |
      | CreateQueue | bad    |        |
      | Publish     | m1     | orders |
    Then the client receives in this order:
      | command     | id     |
      | CreateQueue | create |
      | Error       | bad    |
      | PublishAck  | m1     |
